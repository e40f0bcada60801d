// Keys must not live in pages: the reference shows requests and sends none.
window.addEventListener('load', () => {
  const nothing = () => null;
  window.SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    supportedSubmitMethods: [],
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
    plugins: [{ wrapComponents: { authorizeBtn: () => nothing, ServersContainer: () => nothing } }],
  });
});
