import { X509Certificate } from 'node:crypto';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { cnpjOf } from '../../../src/certificates/holder.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { buildCancellation } from '../../../src/domain/ped-reg-evento/build-cancellation.js';
import type { CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { signDocument } from '../../../src/xml/sign.js';
import { gzipBase64 } from '../../../src/xml/transport.js';
import { acceptedFacts } from '../../domain/dps/facts.js';
import * as documents from '../../xml/documents.js';

export const accessKey = documents.accessKey;

export const certificateFor = (issuer: KeyAndCertificate, now: string, validDays = 1): CompanyCertificate => {
  const cnpj = '12345678000195';
  const made = issueCertificate({ subjectName: 'EMPRESA', cnpj, issuer, validDays, now });
  const leaf = new X509Certificate(made.certificatePem);
  return {
    ...made,
    certificateId: 'c1',
    chainPem: [],
    cnpj: cnpjOf(leaf.raw) ?? '',
    notBefore: new Date(leaf.validFrom).toISOString(),
    notAfter: new Date(leaf.validTo).toISOString(),
    fingerprint: leaf.fingerprint256,
  };
};

const signer = createDocumentSigner();

export type SignedSample = { id: string; digest: string; bytes: Buffer };

export const signedDps = async (certificate: CompanyCertificate, number = 1): Promise<SignedSample> => {
  const accepted = acceptedFacts();
  const { id, xml } = buildDps({ mode: 'test', series: '1', number, accepted, currencyCode: () => undefined });
  return { id, ...(await signer.signDps(xml, certificate)) };
};

export const signedCancellation = async (certificate: CompanyCertificate): Promise<SignedSample> => {
  const { id, xml } = buildCancellation({
    mode: 'test',
    companyId: '12345678000195',
    accessKey,
    reason: 'other',
    description: 'Cancelada a pedido do cliente',
    requestedAt: '2026-11-21T12:00:00.000Z',
  });
  return { id, ...(await signer.signPedRegEvento(xml, certificate)) };
};

/** A note with this DPS, signed as Sefin signs; `nameSpaces` are declared on its root besides the default one. */
export const noteAround = (dps: Buffer, nameSpaces = ''): Buffer => {
  const unsigned = documents.noteAround(dps.toString('utf8')).replace(' versao=', `${nameSpaces} versao=`);
  return signedBySefin(unsigned, 'infNFSe', `NFS${accessKey}`);
};

export const eventAround = (request: Buffer): Buffer =>
  signedBySefin(documents.eventAround(request.toString('utf8')), 'infEvento', `EVT${accessKey}101101001`);

const sefin = issueCertificate({ subjectName: 'Sefin', validDays: 1, now: '2026-11-21T12:00:00.000Z' });

const signedBySefin = (unsigned: string, signedElementName: string, id: string): Buffer =>
  signDocument(unsigned, { ...sefin, signedElementName, id, algorithm: 'exc-c14n-with-comments' }).bytes;

/** Success of `POST /nfse` as live servers shape it: `idDps` holds the access key (deviation 4). */
export const issued = (note: Buffer) => ({
  tipoAmbiente: 2,
  versaoAplicativo: 'SefinNacional_1.6.0',
  dataHoraProcessamento: '2026-03-03T16:40:20.1234567-03:00',
  idDps: `NFS${accessKey}`,
  chaveAcesso: accessKey,
  nfseXmlGZipB64: gzipBase64(note),
  alertas: null,
});
