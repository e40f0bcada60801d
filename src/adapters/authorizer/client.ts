import {
  CANCELLATION_EVENT,
  type CancelingEvent,
  cancelingEvents,
  type DpsId,
  isMadeByMunicipality,
} from '../../domain/common/access-key.js';
import { present } from '../../domain/common/present.js';
import { addSeconds, epochMs, type Instant, isBefore } from '../../domain/common/time.js';
import { within } from '../../lib/pause.js';
import type {
  AuthorizedNote,
  Authorizer,
  Caller,
  LookupResult,
  RegisteredEvent,
  SendResult,
} from '../../ports/authorizer.js';
import { gzipBase64 } from '../../xml/packing.js';
import type { AdnOptions } from './adn.js';
import { createAgents } from './agents.js';
import { identityOf, type SentDocument } from './documents.js';
import { type Exchange, exchangeWith, notHanded, usable } from './exchange.js';
import {
  LOOK_UP_NOT_OURS,
  type Reader,
  type ReadingJob,
  type ReadingName,
  type Readings,
  readInline,
} from './reading.js';

/** As for a service of the ADN: `address` is `https://host/SefinNacional`, and `timeoutMs` is the limit of opening the certificate too. */
type AuthorizerOptions = AdnOptions & {
  /** Base URL of the distribution of the ADN: `https://adn.host/contribuintes`. Only the ADN has events of municipal notes. */
  distribution?: string | undefined;
  /** Limit of a new connection: name service, TCP and the first TLS handshake. */
  connectTimeoutMs: number;
  /** Reads the answers; by default in this thread. */
  read?: Reader;
};

/** Connections of one company: enough for the last look-ups of a sweep and for those of the issuer. */
const LOOK_UPS_AT_ONCE = 96;

/** The work that the queue hands out bounds the sends under way. A second bound here would make a recorded attempt wait until its deadline is near. */
const SENDS_AT_ONCE = Number.POSITIVE_INFINITY;

/** Sefin Nacional in one environment over mutual TLS, with its deviations (docs/national-system.md#deviations). `close` drops the connections. */
export const createAuthorizer = (options: AuthorizerOptions): Authorizer & { close(): void } => {
  const { read = readInline, timeoutMs } = options;
  // Sends and look-ups use separate connections, so that a send never waits for a socket behind look-ups that hang.
  const agents = {
    POST: createAgents(options.trustRootsPem, SENDS_AT_ONCE),
    GET: createAgents(options.trustRootsPem, LOOK_UPS_AT_ONCE),
  };

  const callWith = async (
    caller: Caller,
    method: 'GET' | 'POST',
    path: string,
    { body, until, address = options.address }: { body?: object; until?: Instant | undefined; address?: string },
  ): Promise<Exchange> => {
    const leftMs = (): number =>
      until === undefined ? timeoutMs : Math.min(timeoutMs, epochMs(until) - epochMs(options.now()));
    // Opening the certificate may take the whole limit for a send, because its deadline is checked afterwards.
    const openingMs = body === undefined ? Math.max(0, leftMs()) : timeoutMs;
    const opening = (async () => options.certificateOf(caller))();
    const inTime = within(openingMs, opening, () => new Error('the certificate was not opened in time'));
    const certificate = await usable(inTime, options.now);
    if ('kind' in certificate) return certificate;
    const callMs = leftMs();
    if (callMs <= 0) return notHanded('deadline_passed');
    return exchangeWith(agents[method], certificate, address, path, {
      method,
      connectTimeoutMs: options.connectTimeoutMs,
      timeoutMs: callMs,
      mayStillSend: () => leftMs() > 0,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };

  // `exchange` never rejects, so what fails here failed before a byte was handed to a socket.
  const call: typeof callWith = (...args) => callWith(...args).catch(() => NOT_BEGUN);

  /** An unreadable answer proves as little as a missing answer, because its status and codes are unreadable too. */
  const readAnswerOr = <Name extends ReadingName>(
    job: ReadingJob<Name>,
    unreadable: Readings[Name]['result'],
  ): Promise<Readings[Name]['result']> => read(job).catch(() => unreadable);

  const send = async <Name extends 'sentDps' | 'sentCancellation'>(
    name: Name,
    identity: () => SentDocument,
    answered: () => Promise<Exchange>,
  ): Promise<Readings[Name]['result']> => {
    let expected: SentDocument;
    try {
      expected = identity();
    } catch {
      return NOT_SENT;
    }
    const exchange = await answered();
    const job = { name, expected: { ...expected, heardAt: options.now() }, exchange } as ReadingJob<Name>;
    return await readAnswerOr(job, UNKNOWN);
  };

  const fetchNote = async (
    caller: Caller,
    accessKey: string,
    { absentCodes, ofDps }: { absentCodes: readonly string[]; ofDps?: DpsId },
    until?: Instant,
  ): Promise<LookupResult<AuthorizedNote>> => {
    const exchange = await call(caller, 'GET', `/nfse/${accessKey}`, { until });
    const expected = present({ accessKey, absentCodes, dpsId: ofDps, heardAt: options.now() });
    return await readAnswerOr({ name: 'note', expected, exchange }, INCONCLUSIVE);
  };

  const fetchEvent = async (
    caller: Caller,
    accessKey: string,
    eventType: CancelingEvent,
    until?: Instant,
  ): Promise<LookupResult<RegisteredEvent>> => {
    const answer = await call(caller, 'GET', `/nfse/${accessKey}/eventos/${eventType}/1`, { until });
    return await readAnswerOr({ name: 'event', expected: { accessKey, eventType }, exchange: answer }, INCONCLUSIVE);
  };

  /** Until then the environment is not asked for the list of events, because it said that it has none. */
  let withoutListUntil: Instant | undefined;

  /** The events of a note by their list; undefined where the environment offers none. */
  const fetchEvents = async (
    caller: Caller,
    accessKey: string,
    until?: Instant,
  ): Promise<LookupResult<RegisteredEvent> | undefined> => {
    if (withoutListUntil !== undefined && isBefore(options.now(), withoutListUntil)) return undefined;
    const answer = await call(caller, 'GET', `/nfse/${accessKey}/eventos`, { until });
    const read = await readAnswerOr({ name: 'events', expected: { accessKey }, exchange: answer }, INCONCLUSIVE);
    if (read.kind !== 'not_offered') return read;
    withoutListUntil = addSeconds(options.now(), LIST_PAUSE_SECONDS);
    return undefined;
  };

  /** The events of a note that Sefin does not have. */
  const fetchSharedEvents = async (
    caller: Caller,
    accessKey: string,
    until?: Instant,
  ): Promise<LookupResult<RegisteredEvent>> => {
    const address = options.distribution;
    if (address === undefined) return NO_ADN;
    const exchange = await call(caller, 'GET', `/NFSe/${accessKey}/Eventos`, { until, address });
    return await readAnswerOr({ name: 'sharedEvents', expected: { accessKey }, exchange }, UNREADABLE_AT_ADN);
  };

  return {
    sendDps: (caller, signedDps, deadlineAt) =>
      send(
        'sentDps',
        () => identityOf(signedDps, 'DPS', 'infDPS'),
        () => call(caller, 'POST', '/nfse', { body: { dpsXmlGZipB64: gzipBase64(signedDps) }, until: deadlineAt }),
      ),

    findByDps: async (caller, dpsId, until) => {
      const answer = await call(caller, 'GET', `/dps/${dpsId}`, { until });
      const key = await readAnswerOr({ name: 'accessKeyOfDps', expected: { dpsId }, exchange: answer }, INCONCLUSIVE);
      if (key.kind !== 'found') return key;
      const note = await fetchNote(caller, key.found, { absentCodes: [], ofDps: dpsId }, until);
      if (note.kind === 'found' && note.found.dpsId === dpsId) return note;
      return { ...(note.kind === 'inconclusive' ? note : LOOK_UP_NOT_OURS), exists: true };
    },

    findByAccessKey: (caller, accessKey) => fetchNote(caller, accessKey, { absentCodes: ['E2401'] }),

    sendCancellation: (caller, accessKey, signedRequest, deadlineAt) =>
      send(
        'sentCancellation',
        () => identityOf(signedRequest, 'pedRegEvento', 'infPedReg'),
        () => {
          const body = { pedidoRegistroEventoXmlGZipB64: gzipBase64(signedRequest) };
          return call(caller, 'POST', `/nfse/${accessKey}/eventos`, { body, until: deadlineAt });
        },
      ),

    findCancellation: async (caller, accessKey, until) => {
      if (isMadeByMunicipality(accessKey)) return await fetchSharedEvents(caller, accessKey, until);
      const own = await fetchEvent(caller, accessKey, CANCELLATION_EVENT, until);
      if (own.kind !== 'absent') return own;
      const listed = await fetchEvents(caller, accessKey, until);
      if (listed !== undefined) return listed;
      for (const eventType of cancelingEvents) {
        if (eventType === CANCELLATION_EVENT) continue;
        const one = await fetchEvent(caller, accessKey, eventType, until);
        if (one.kind !== 'absent') return one;
      }
      return { kind: 'absent' };
    },

    close: () => {
      agents.POST.close();
      agents.GET.close();
    },
  };
};

/** How long a missing list of events is remembered. */
const LIST_PAUSE_SECONDS = 3600;

const NOT_BEGUN = notHanded('call_not_begun');

const UNREADABLE = 'answer_unreadable';
const INCONCLUSIVE = { kind: 'inconclusive', reason: UNREADABLE } as const;
const NO_ADN = { kind: 'inconclusive', reason: 'adn_no_address' } as const;
const UNREADABLE_AT_ADN = { kind: 'inconclusive', reason: `adn_${UNREADABLE}` } as const;
const UNKNOWN: SendResult<never> = { kind: 'unknown', reason: UNREADABLE, codes: [] };

/** The bytes to send are not a document that we signed, so nothing was sent. */
const NOT_SENT: SendResult<never> = {
  kind: 'not_sent',
  reason: 'document_unreadable',
  codes: [],
};
