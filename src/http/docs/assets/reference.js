// Renders the reference. Keys must not live in pages: the page shows requests and sends none.
window.Redoc.init(
  '/openapi.json',
  {
    // The search would need a script made at run time, which the policy of the page refuses.
    disableSearch: true,
    nativeScrollbars: true,
    requiredPropsFirst: true,
    // The plain body comes after the samples in six languages.
    payloadSampleIdx: 6,
    expandResponses: '200,202',
    jsonSamplesExpandLevel: 'all',
    hideDownloadButtons: false,
    labels: {
      enum: 'Valores',
      enumSingleValue: 'Valor',
      default: 'Padrão',
      deprecated: 'Obsoleto',
      example: 'Exemplo',
      examples: 'Exemplos',
      recursive: 'Recursivo',
      arrayOf: 'Lista de ',
      const: 'Valor',
      download: 'Baixar',
      downloadSpecification: 'Baixar o documento OpenAPI',
      responses: 'Respostas',
      requestSamples: 'Exemplos da requisição',
      responseSamples: 'Exemplos da resposta',
    },
    theme: {
      typography: {
        fontFamily: 'system-ui, sans-serif',
        headings: { fontFamily: 'system-ui, sans-serif' },
        code: { fontFamily: 'ui-monospace, monospace' },
      },
      colors: { primary: { main: '#0b62c4' } },
    },
  },
  document.querySelector('#reference'),
);
