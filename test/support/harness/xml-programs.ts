import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignedXml } from 'xml-crypto';
import type { KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
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
  const id = idAttribute(signedElementName);
  const { status } = spawnSync('xmlsec1', ['--verify', '--insecure', '--id-attr:Id', id, file]);
  return status === 0;
};

/** The document signed again by xmlsec1, by the algorithms that its signature names. */
export const xmlsecSigns = (
  xml: Buffer,
  signedElementName: string,
  { privateKeyPem, certificatePem }: KeyAndCertificate,
): Buffer => {
  const folder = temporaryFolder();
  const place = (name: string): string => join(folder, name);
  const emptied = xml
    .toString('utf8')
    .replace(/(<(DigestValue|SignatureValue)>)[^<]*(?=<\/\2>(?!.*<\2>))/gs, '$1')
    .replace(/<X509Certificate>[^<]*<\/X509Certificate>(?!.*<X509Certificate>)/s, '');
  writeFileSync(place('template.xml'), emptied);
  writeFileSync(place('key.pem'), privateKeyPem);
  writeFileSync(place('certificate.pem'), certificatePem);
  const id = ['--id-attr:Id', idAttribute(signedElementName)];
  const key = ['--privkey-pem', `${place('key.pem')},${place('certificate.pem')}`];
  execFileSync('xmlsec1', ['--sign', ...key, ...id, '--output', place('signed.xml'), place('template.xml')]);
  return readFileSync(place('signed.xml'));
};

const idAttribute = (signedElementName: string): string => `http://www.sped.fazenda.gov.br/nfse:${signedElementName}`;

/** Throws with xmllint's own words when the document does not fit the official schema. */
export const xmllintAccepts = (xml: Buffer, kind: string): void => {
  const schema = new URL(`../../../src/xml/xsd/v1.01/${kind}_v1.01.xsd`, import.meta.url).pathname;
  execFileSync('xmllint', ['--nonet', '--noout', '--schema', schema, '-'], { input: xml, stdio: 'pipe' });
};
