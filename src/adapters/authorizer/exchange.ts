import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Instant, isBefore } from '../../domain/common/time.js';
import { readUpTo } from '../../lib/bound-chunks.js';
import { errorCode } from '../../lib/error-code.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import type { createAgents } from './agents.js';

/** The call's time passed while it waited for a connection that other calls of the company held, or was too short after that wait. */
const CONNECTIONS_BUSY = 'connections_busy';

/** Reasons for not connecting that lie with one company's certificate. `certificate_unread`: the vault failed or gave no answer in time. */
export const CERTIFICATE_REASONS = [
  'certificate_missing',
  'certificate_unread',
  'certificate_expired',
  'certificate_unusable',
] as const;

/** Reasons that lie in this process or with one company's certificate, and say nothing about the environment. */
export const localReasons = [
  ...CERTIFICATE_REASONS,
  'deadline_passed',
  'call_not_begun',
  'request_not_made',
  CONNECTIONS_BUSY,
] as const;

type LocalReason = (typeof localReasons)[number];

export const notHanded = (reason: LocalReason): Extract<Exchange, { kind: 'not_handed' }> => ({
  kind: 'not_handed',
  reason,
});

/**
 * The certificate that is opened for a call, or why there is no call with it. The handshake of an expired certificate fails like an outage of the
 * environment, which would hold up all companies.
 */
export const usable = async (
  opening: Promise<CompanyCertificate | undefined>,
  now: () => Instant,
): Promise<CompanyCertificate | Extract<Exchange, { kind: 'not_handed' }>> => {
  const opened = await opening.catch(() => 'unread' as const);
  if (opened === undefined) return notHanded('certificate_missing');
  if (opened === 'unread') return notHanded('certificate_unread');
  return isBefore(now(), opened.notAfter) ? opened : notHanded('certificate_expired');
};

/** The answer is longer than the limit of the call. */
export const RESPONSE_TOO_LARGE = 'response_too_large';

/**
 * The result of one HTTP call. `not_handed`: no byte of the request was handed to a connected socket, so the server cannot have seen it. `broken`:
 * the server may have seen it, and the answer did not arrive whole.
 */
export type Exchange = { kind: 'not_handed'; reason: string } | { kind: 'broken'; reason: string } | Answered;

type Answered = { kind: 'answered'; status: number; contentType: string; body: Buffer };

type Call = {
  agent: Agent;
  method: 'GET' | 'POST';
  url: URL;
  /** JSON text. */
  body?: string;
  /** Limit of a new connection: name service, TCP and the first TLS handshake; without it only `timeoutMs` applies. */
  connectTimeoutMs?: number;
  /** Limit of the whole call, from the wait for a socket to the last byte of the answer. */
  timeoutMs: number;
  /**
   * Asked right before the first byte is handed to a socket; when false, nothing is sent. A process that was frozen handles a finished handshake
   * before its timers, so a timer alone would let the request go after its deadline.
   */
  mayStillSend?: () => boolean;
  /** Limit of the answer, both as received and unpacked; default `MAX_RESPONSE_BYTES`. */
  maxBytes?: number;
  /** Whether a compressed answer, which no request asks for, is refused unread. */
  identityOnly?: boolean;
};

/** An authorized note travels in 20 KB; an answer above this limit is not a note. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

/** Answers with a status 1xx before the answer. No request asks for one, and no limit of bytes counts them. */
const MAX_INTERIM_ANSWERS = 10;

/**
 * One call over HTTP/1.1 without retry, redirect or proxy. Proxy variables of the environment have no effect, because the agent is ours. Never
 * rejects.
 */
export const exchange = (call: Call): Promise<Exchange> =>
  new Promise((resolve) => {
    let handed = false;
    let answering = false;
    const outgoing = opened(call);
    if (outgoing === undefined) return resolve(notHanded('request_not_made'));
    const settle = (result: Exchange): void => {
      clearTimeout(deadline);
      clearTimeout(connecting);
      resolve(result);
    };
    const fail = (reason: string): void => {
      settle({ kind: handed ? 'broken' : 'not_handed', reason });
      outgoing.destroy();
    };
    let hasSocket = false;
    let hasWaited = false;
    // An agent with a free place gives its socket before the next turn of the event loop.
    setImmediate(() => {
      hasWaited = !hasSocket;
    });
    const deadline = setTimeout(() => fail(hasWaited ? CONNECTIONS_BUSY : 'timeout'), call.timeoutMs);
    let connecting: NodeJS.Timeout | undefined;
    const hand = (): void => {
      clearTimeout(connecting);
      if (call.mayStillSend?.() === false) {
        fail('deadline_passed' satisfies LocalReason);
        return;
      }
      handed = true;
      try {
        outgoing.end(call.body);
      } catch (error) {
        fail(reasonOf(error));
      }
    };
    outgoing.on('socket', (socket) => {
      hasSocket = true;
      // Nothing is written before the handshake ends and the server's certificate is accepted. The server may have closed a reused socket at any
      // moment, so a request on it counts as handed.
      if (outgoing.reusedSocket || !socket.connecting) return hand();
      socket.once('secureConnect', hand);
      if (call.connectTimeoutMs === undefined) return;
      connecting = setTimeout(() => fail('connect_timeout'), call.connectTimeoutMs);
    });
    let interim = 0;
    outgoing.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM_ANSWERS) fail('too_many_interim_answers');
    });
    outgoing.on('response', (incoming) => {
      answering = true;
      read(incoming, call).then(
        (answer) => ('refused' in answer ? fail(answer.refused) : settle(answer)),
        (error: unknown) => fail(reasonOf(error)),
      );
    });
    outgoing.on('error', (error) => fail(reasonOf(error)));
    outgoing.on('close', () => {
      if (!answering) fail('closed');
    });
  });

/** One call with the certificate to `path`, which is put after the base URL `address`. Throws when both make no URL. */
export const exchangeWith = (
  agents: Pick<ReturnType<typeof createAgents>, 'agentOf'>,
  certificate: CompanyCertificate,
  address: string,
  path: string,
  call: Omit<Call, 'agent' | 'url'>,
): Promise<Exchange> => {
  const agent = agents.agentOf(certificate);
  if (agent === undefined) return Promise.resolve(notHanded('certificate_unusable'));
  return exchange({ ...call, agent, url: new URL(`${address.replace(/\/+$/, '')}${path}`) });
};

/** Undefined when Node refuses the address, the headers or the agent. */
const opened = (call: Call): ClientRequest | undefined => {
  try {
    return request(call.url, { agent: call.agent, method: call.method, headers: headersOf(call) });
  } catch {
    return undefined;
  }
};

const headersOf = ({ body }: Call): Record<string, string | number> => ({
  accept: 'application/json',
  'accept-encoding': 'identity',
  ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
});

const read = async (incoming: IncomingMessage, call: Call): Promise<Answered | { refused: string }> => {
  const { maxBytes = MAX_RESPONSE_BYTES, identityOnly = false } = call;
  const encoding = incoming.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (identityOnly && encoding !== 'identity') return { refused: 'response_encoded' };
  const received = await readUpTo(incoming, maxBytes);
  if (received === undefined) return { refused: RESPONSE_TOO_LARGE };
  const contentType = incoming.headers['content-type']?.toLowerCase() ?? '';
  // No request asks for compression, but a server may compress all the same; the limit holds for the unpacked bytes.
  const body = encoding === 'gzip' ? await inflated(received, { maxOutputLength: maxBytes }) : received;
  return { kind: 'answered', status: incoming.statusCode ?? 0, contentType, body };
};

const inflated = promisify(gunzip);

/** The error's code alone, because its message may name hosts and certificates and a reason is recorded unsealed. */
const reasonOf = (error: unknown): string => errorCode(error) ?? 'failed';
