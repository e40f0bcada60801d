import { sample } from '../../../support/fixture/samples.js';

const samples = {
  production: 'nfse-07-producao-me-epp-cpf.xml',
  reform: 'nfse-08-restrita-ibscbs.xml',
  web: 'nfse-09-emissor-web-v1.00.xml',
  exported: 'nfse-10-exportacao-construida.xml',
} as const;

export const sampleNames = Object.keys(samples) as (keyof typeof samples)[];

/** An official-shaped note, for tests under `itWith('samples', ...)`. */
export const sampleXml = (name: keyof typeof samples): Buffer => sample(samples[name]);
