import { createAuthorizer } from '../../../src/adapters/authorizer/client.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import type { Caller } from '../../../src/ports/authorizer.js';
import type { CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { certificateFor, type SignedSample, signedCancellation, signedDps } from '../fixture/sefin.js';
import { type AuthorizerServer, startAuthorizerServer } from './authorizer-server.js';

export const now = new Date().toISOString();
export const inAMinute = addSeconds(now, 60);
export const caller: Caller = { mode: 'test', companyId: '12345678000195' };

export type Client = ReturnType<typeof createAuthorizer>;
type Options = Parameters<typeof createAuthorizer>[0];

/** Of a connection and of a whole call: longer than a busy machine takes. */
export const CALL_LIMIT_MS = 30_000;

/** A server that demands a client certificate, a company that has one and two documents, and the client between them. */
export type ClientHarness = {
  authority: KeyAndCertificate;
  serverIdentity: KeyAndCertificate;
  company: CompanyCertificate;
  dps: SignedSample;
  cancellation: SignedSample;
  server: AuthorizerServer;
  client: Client;
  /** A client of another address or with other options; closed with the harness. */
  clientOf(changes: Partial<Options>): Client;
  close(): Promise<void>;
};

const makeIdentities = async () => {
  const authority = issueCertificate({ subjectName: 'Autoridade', validDays: 1, now });
  const serverNames = ['127.0.0.1'];
  const serverIdentity = issueCertificate({ subjectName: 'sefin', issuer: authority, serverNames, validDays: 1, now });
  const company = certificateFor(authority, now);
  const documents = { dps: await signedDps(company), cancellation: await signedCancellation(company) };
  return { authority, serverIdentity, company, ...documents };
};

/** The harnesses of a test file share them, because keys take long to make. */
let identities: ReturnType<typeof makeIdentities> | undefined;

export const openClientHarness = async (): Promise<ClientHarness> => {
  identities ??= makeIdentities();
  const made = await identities;
  const { authority, serverIdentity, company } = made;
  const server = await startAuthorizerServer(authority, serverIdentity);
  const opened: Client[] = [];
  const clientOf = (changes: Partial<Options>): Client => {
    const client = createAuthorizer({
      address: server.address,
      trustRootsPem: [authority.certificatePem],
      connectTimeoutMs: CALL_LIMIT_MS,
      timeoutMs: CALL_LIMIT_MS,
      now: () => now,
      certificateOf: () => Promise.resolve(company),
      ...changes,
    });
    opened.push(client);
    return client;
  };
  return {
    ...made,
    server,
    client: clientOf({}),
    clientOf,
    close: async () => {
      for (const client of opened) client.close();
      await server.close();
    },
  };
};

export const errors = (...codes: string[]) => ({
  erros: codes.map((Codigo) => ({ Codigo, Descricao: `texto ${Codigo}` })),
});
