import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignedXml } from 'xml-crypto';
import { temporaryFolder } from '../temporary-folder.js';

export { itWith } from '../needs.js';

/** Independent verification of the outermost signature, by this certificate whatever `KeyInfo` says. */
export const xmlCryptoVerifies = (xml: Buffer, publicCert: string): boolean => {
  const text = xml.toString('utf8');
  const start = text.lastIndexOf('<Signature ');
  const verifier = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
  verifier.loadSignature(text.slice(start, text.lastIndexOf('</Signature>') + '</Signature>'.length));
  return verifier.checkSignature(text);
};

/** Independent verification of the signature; the certificate is read from KeyInfo and trusted as it is. */
export const xmlsecVerifies = (xml: Buffer, signedElementName: string): boolean => {
  const file = join(temporaryFolder(), 'document.xml');
  writeFileSync(file, xml);
  const id = `http://www.sped.fazenda.gov.br/nfse:${signedElementName}`;
  const { status } = spawnSync('xmlsec1', ['--verify', '--insecure', '--id-attr:Id', id, file]);
  return status === 0;
};

/** Throws with xmllint's own words when the document does not fit the official schema. */
export const xmllintAccepts = (xml: Buffer, kind: string): void => {
  const schema = new URL(`../../../src/xml/xsd/v1.01/${kind}_v1.01.xsd`, import.meta.url).pathname;
  execFileSync('xmllint', ['--nonet', '--noout', '--schema', schema, '-'], { input: xml, stdio: 'pipe' });
};
