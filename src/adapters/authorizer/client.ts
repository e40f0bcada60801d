import { CANCELLATION_EVENT, cancellationRequestId, isAccessKey } from '../../domain/shared/access-key.js';
import type { Mode } from '../../domain/shared/ids.js';
import { epochMs, type Instant, isBefore } from '../../domain/shared/time.js';
import type { AuthorizedNote, Authorizer, Caller, LookupResult } from '../../ports/authorizer.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { gzipBase64 } from '../../xml/transport.js';
import { createAgents } from './agents.js';
import { classifyLookup, classifySend } from './classify.js';
import { identityOf, readEventOfLookup, readEventOfSend, readNoteOfLookup, readNoteOfSend } from './documents.js';
import { type Exchange, exchange } from './exchange.js';
import { packedEventOf, textOf } from './responses.js';

export type AuthorizerOptions = {
  /** Base URL of each environment, used as a prefix: `https://host/SefinNacional`. */
  addresses: Record<Mode, string>;
  /** Trusted beside the public roots: GlobalSign Root R46 of `trust-roots.ts`, the simulator's authority. */
  trustRootsPem: readonly string[];
  /** Of a new connection: name service, TCP and the first TLS handshake. */
  connectTimeoutMs: number;
  /** Of one HTTP call, from the wait for a socket to the last byte. */
  timeoutMs: number;
  certificateOf(caller: Caller): Promise<CompanyCertificate | undefined>;
  now(): Instant;
};

/** Sefin Nacional over mutual TLS (domain.md section 3, openapi deviations 1 to 13). `close` drops idle connections. */
export const createAuthorizer = (options: AuthorizerOptions): Authorizer & { close(): void } => {
  const agents = createAgents(options.trustRootsPem);

  const call = async (
    caller: Caller,
    method: 'GET' | 'POST',
    path: string,
    send?: { body: object; deadlineAt: Instant },
  ): Promise<Exchange> => {
    const certificate = await options.certificateOf(caller).catch(() => undefined);
    if (certificate === undefined) return { kind: 'not_handed', reason: 'certificate_missing' };
    if (!isBefore(options.now(), certificate.notAfter)) return { kind: 'not_handed', reason: 'certificate_expired' };
    const leftMs = send === undefined ? options.timeoutMs : epochMs(send.deadlineAt) - epochMs(options.now());
    if (leftMs <= 0) return { kind: 'not_handed', reason: 'deadline_passed' };
    const agent = agents.agentOf(certificate);
    if (agent === undefined) return { kind: 'not_handed', reason: 'certificate_unusable' };
    return exchange({
      agent,
      method,
      url: new URL(`${options.addresses[caller.mode].replace(/\/+$/, '')}${path}`),
      connectTimeoutMs: options.connectTimeoutMs,
      timeoutMs: Math.min(options.timeoutMs, leftMs),
      ...(send === undefined ? {} : { body: JSON.stringify(send.body) }),
    });
  };

  const fetchNote = async (
    caller: Caller,
    accessKey: string,
    absentCodes: readonly string[],
  ): Promise<LookupResult<AuthorizedNote>> => {
    const answer = classifyLookup(await call(caller, 'GET', `/nfse/${accessKey}`), absentCodes);
    if (answer.kind !== 'present') return answer;
    const note = readNoteOfLookup(textOf(answer.body, 'nfseXmlGZipB64'));
    return note?.accessKey === accessKey ? { kind: 'found', found: note } : unreadable;
  };

  return {
    sendDps: async (caller, signedDps, deadlineAt) => {
      const { id, digest } = identityOf(signedDps, 'DPS', 'infDPS');
      const body = { dpsXmlGZipB64: gzipBase64(signedDps) };
      const answer = await call(caller, 'POST', '/nfse', { body, deadlineAt });
      return classifySend('dps', answer, (success) => {
        // `idDps` of this answer holds the access key (deviation 4): only the document itself is believed.
        const note = readNoteOfSend(textOf(success, 'nfseXmlGZipB64'));
        return note?.dpsId === id && note.dpsDigest === digest ? note : undefined;
      });
    },

    findByDps: async (caller, dpsId) => {
      const answer = classifyLookup(await call(caller, 'GET', `/dps/${dpsId}`), ['E2404']);
      if (answer.kind !== 'present') return answer;
      const accessKey = textOf(answer.body, 'chaveAcesso') ?? '';
      if (!isAccessKey(accessKey)) return unreadable;
      const note = await fetchNote(caller, accessKey, []);
      return note.kind === 'found' && note.found.dpsId !== dpsId ? unreadable : note;
    },

    findByAccessKey: (caller, accessKey) => fetchNote(caller, accessKey, ['E2401']),

    sendCancellation: async (caller, accessKey, signedRequest, deadlineAt) => {
      const { id, digest } = identityOf(signedRequest, 'pedRegEvento', 'infPedReg');
      const body = { pedidoRegistroEventoXmlGZipB64: gzipBase64(signedRequest) };
      const answer = await call(caller, 'POST', `/nfse/${accessKey}/eventos`, { body, deadlineAt });
      return classifySend('event', answer, (success) => {
        const event = readEventOfSend(packedEventOf(success, CANCELLATION_EVENT));
        return event?.requestId === id && event.requestDigest === digest ? event : undefined;
      });
    },

    findCancellation: async (caller, accessKey) => {
      const path = `/nfse/${accessKey}/eventos/${CANCELLATION_EVENT}/1`;
      const answer = classifyLookup(await call(caller, 'GET', path), 'any');
      if (answer.kind !== 'present') return answer;
      const event = readEventOfLookup(packedEventOf(answer.body, CANCELLATION_EVENT));
      return event?.requestId === cancellationRequestId(accessKey) ? { kind: 'found', found: event } : unreadable;
    },

    close: () => agents.close(),
  };
};

const unreadable = { kind: 'inconclusive', reason: 'not_ours_or_unreadable' } as const;
