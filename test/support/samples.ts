import { readFileSync } from 'node:fs';

const beside = new URL('../../../shared/', import.meta.url);

/** Documents that need not be there: a test that reads them says so with `itWith('samples', ...)`. */
export const samplesFolder = new URL('nfse/samples/', beside);

/** Likewise, with `itWith('specification', ...)`. */
export const specificationFile = new URL('spec/interface-specification.md', beside);

/** The official codes with their wording, one a row; likewise, with `itWith('samples', ...)`. */
export const officialCodesFile = new URL('nfse/rules/error-codes.tsv', beside);

/** One of the official-shaped sample documents, with its exact bytes. */
export const sample = (name: string): Buffer => readFileSync(new URL(name, samplesFolder));

/** The sample without declaration and signature of the root: what a signer gets. */
export const unsignedSample = (name: string): string =>
  sample(name)
    .toString('utf8')
    .replace(/^<\?xml[^>]*\?>/, '')
    .replace(/<Signature (?!.*<Signature )[\s\S]*<\/Signature>(<\/[A-Za-z]+>\s*)$/, '$1')
    .trimEnd();
