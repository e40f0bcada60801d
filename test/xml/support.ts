import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';

const samples = new URL('../../../shared/nfse/samples/', import.meta.url);

/** One of the official-shaped sample documents, with its exact bytes. */
export const sample = (name: string): Buffer => readFileSync(new URL(name, samples));

/** The sample without declaration and signature of the root: what a signer gets. */
export const unsignedSample = (name: string): string =>
  sample(name)
    .toString('utf8')
    .replace(/^<\?xml[^>]*\?>/, '')
    .replace(/<Signature (?!.*<Signature )[\s\S]*<\/Signature>(<\/[A-Za-z]+>\s*)$/, '$1')
    .trimEnd();

const has = (tool: string): boolean => spawnSync(tool, ['--version']).error === undefined;

const required = (tool: string): boolean => (process.env.REQUIRE_ENGINES ?? '').split(',').includes(tool);

/** A test that needs a tool of the machine: skipped by name without it, failing where REQUIRE_ENGINES names it. */
export const itWith = (tool: string, title: string, body: () => void | Promise<void>): void => {
  if (has(tool) || required(tool)) it(title, body);
  else it.skip(`${title} (skipped: ${tool} is not installed)`, body);
};

/** Independent verification of the signature; the certificate is read from KeyInfo and trusted as it is. */
export const xmlsecVerifies = (xml: Buffer, signedElementName: string): boolean => {
  const file = join(mkdtempSync(join(tmpdir(), 'xmlsec-')), 'document.xml');
  writeFileSync(file, xml);
  const id = `http://www.sped.fazenda.gov.br/nfse:${signedElementName}`;
  const { status } = spawnSync('xmlsec1', ['--verify', '--insecure', '--id-attr:Id', id, file]);
  return status === 0;
};

/** Throws with xmllint's own words when the document does not fit the official schema. */
export const xmllintAccepts = (xml: Buffer, kind: string): void => {
  const schema = new URL(`../../src/xml/xsd/v1.01/${kind}_v1.01.xsd`, import.meta.url).pathname;
  execFileSync('xmllint', ['--nonet', '--noout', '--schema', schema, '-'], { input: xml, stdio: 'pipe' });
};
