import { readFileSync } from 'node:fs';

const beside = new URL('../../../shared/', import.meta.url);

/** Documents that need not be there: a test that reads them says so with `itWith('samples', ...)`. */
export const samplesFolder = new URL('nfse/samples/', beside);

/** Likewise, with `itWith('specification', ...)`. */
export const specificationFile = new URL('spec/interface-specification.md', beside);

/** The official codes with their wording, one a row; likewise, with `itWith('samples', ...)`. */
export const officialCodesFile = new URL('nfse/rules/error-codes.tsv', beside);

/** Incidence of the ISSQN and groups demanded, by service; likewise. */
export const officialIncidenceFile = new URL('nfse/tables/servicos-incidencia.tsv', beside);

/** Annex VIII, one row for an item of LC 116 and an NBS code; likewise. */
export const officialAnnexVIIIFile = new URL('tables/lc116-nbs.tsv', beside);

/** A body as the live servers answered it; likewise. */
export const readExample = (name: string): string =>
  readFileSync(new URL(`nfse/openapi/examples/${name}`, beside), 'utf8');

/** One of the official-shaped sample documents, with its exact bytes. */
export const sample = (name: string): Buffer => readFileSync(new URL(name, samplesFolder));

/** The sample without declaration and signature of the root: what a signer gets. */
export const unsignedSample = (name: string): string =>
  sample(name)
    .toString('utf8')
    .replace(/^<\?xml[^>]*\?>/, '')
    .replace(/<Signature (?!.*<Signature )[\s\S]*<\/Signature>(<\/[A-Za-z]+>\s*)$/, '$1')
    .trimEnd();
