import { CANCELLATION_EVENT, cancellationRequestId } from '../../domain/common/access-key.js';
import type { Canonical } from '../../domain/common/canonical-xml.js';
import { haveSameRoot } from '../../domain/common/cnpj.js';
import { DAY_MS, epochMs, type Instant } from '../../domain/common/time.js';
import { attributeAt, nodeAt, textAt } from '../../xml/parse.js';
import { wholeSecond } from '../clock.js';
import { type Environment, otherMode, type World } from '../environment.js';
import { holderOf } from '../holder.js';
import type { Received } from '../intake.js';
import type { Code } from '../messages.js';
import { type Refusal, refusal } from '../refusal.js';
import type { Municipality } from '../state/entries.js';
import type { Note } from '../state/ledger.js';
import { testEffect } from '../test-values.js';
import { eventDocument } from './evento.js';
import { cancellationBar, EVENT_KINDS } from './kinds.js';

type Registration = { ok: true; document: string } | { ok: false; refusals: readonly Refusal[] };

/**
 * Registers a cancellation (e101101) on a note in one synchronous step, as `authorize` does (docs/national-system.md#cancellation).
 * `pathKey` is the access key in the path of the request.
 */
export const registerEvent = (
  world: World,
  environment: Environment,
  received: Received,
  pathKey: string,
): Registration => {
  const request = readRequest(received);
  if (request === undefined) return refused(isSubstitution(received) ? 'E1861' : 'E1242');
  const now = world.clock.now();
  const fault = world.judgeSigner(received.signerDer, now);
  if (fault !== undefined) return refused(fault === 'invalid' ? 'E1983' : 'E1986');
  const context = contextOf(world, environment, { request, pathKey, signer: holderOf(received.signerDer).cnpj, now });
  const broken = brokenEventRules(context);
  if (broken.length > 0) {
    return { ok: false, refusals: broken.map((code) => (code === 'E0840' ? barredBy(context.events) : refusal(code))) };
  }
  const { accessKey } = request;
  const registeredAt = wholeSecond(now);
  // The signed request is copied byte for byte.
  const parts = { accessKey, type: CANCELLATION_EVENT, registeredAt, request: received.text as Canonical };
  const document = eventDocument(world, environment, parts);
  environment.ledger.addEvent({ accessKey, type: CANCELLATION_EVENT, sequence: 1, registeredAt }, document);
  return { ok: true, document };
};

/** Undefined for an event other than the cancellation. */
const readRequest = ({ root }: Received): EventContext['request'] | undefined => {
  const infPedReg = nodeAt(root, 'pedRegEvento/infPedReg');
  if (nodeAt(infPedReg, `e${CANCELLATION_EVENT}`) === undefined) return undefined;
  return {
    id: attributeAt(root, 'pedRegEvento/infPedReg', 'Id') ?? '',
    accessKey: textAt(infPedReg, 'chNFSe') ?? '',
    author: textAt(infPedReg, 'CNPJAutor') ?? textAt(infPedReg, 'CPFAutor') ?? '',
    tpAmb: textAt(infPedReg, 'tpAmb') ?? '',
  };
};

/** Only the authorizer itself registers e105102, for a DPS with `subst` (docs/national-system.md#substitution). */
const isSubstitution = ({ root }: Received): boolean => nodeAt(root, 'pedRegEvento/infPedReg/e105102') !== undefined;

const contextOf = (
  world: World,
  { mode, tpAmb, ledger, registry }: Environment,
  asked: Pick<EventContext, 'request' | 'pathKey' | 'signer' | 'now'>,
): EventContext => {
  const { accessKey } = asked.request;
  const note = ledger.noteByKey(accessKey);
  return {
    ...asked,
    tpAmb,
    note,
    isElsewhere: world.environments[otherMode(mode)].ledger.noteByKey(accessKey) !== undefined,
    events: ledger.events(accessKey).map(({ type }) => type),
    municipality: note === undefined ? {} : registry.municipality(note.municipality),
  };
};

/** The message of E0840 names the event that bars the cancellation. */
const barredBy = (events: readonly string[]): Refusal => {
  const { message, ...rest } = refusal('E0840');
  const name = cancellationBar(events) ?? '';
  return {
    ...rest,
    message: message.replace(`o evento de ${EVENT_KINDS['101101'].name} já`, `o evento de ${name} já`),
  };
};

const refused = (code: Code): Registration => ({ ok: false, refusals: [refusal(code)] });

/** A cancellation request, and what the environment holds about its note. */
type EventContext = {
  request: { id: string; accessKey: string; author: string; tpAmb: string };
  /** Access key in the path of the request. */
  pathKey: string;
  /** CNPJ of the signing certificate. */
  signer: string | undefined;
  tpAmb: string;
  /** The authorizer's clock. */
  now: Instant;
  note: Note | undefined;
  isElsewhere: boolean;
  /** Stored types of the events on the note. */
  events: readonly string[];
  /** Parameters of the note's municipality. */
  municipality: Municipality;
};

/**
 * The rules of annex II that a cancellation can break, in its order. E0813 and E0822 to E0824 apply only to a note that no event bars.
 */
const RULES: { readonly [C in Code]?: (context: EventContext) => boolean } = {
  E1845: ({ request, tpAmb }) => request.tpAmb !== tpAmb,
  E1827: ({ request, pathKey }) =>
    request.id !== cancellationRequestId(request.accessKey) || pathKey !== request.accessKey,
  E0812: ({ request, signer }) => signer === undefined || !haveSameRoot(signer, request.author),
  E1831: ({ note, isElsewhere }) => note === undefined && !isElsewhere,
  E0831: ({ note, isElsewhere }) => note === undefined && isElsewhere,
  E0840: (context) => context.note !== undefined && isBarred(context),
  E0813: (context) => isOpen(context, (note) => !haveSameRoot(context.request.author, note.cnpj)),
  E0822: (context) => isOpen(context, (note) => isTooLate(context, note) || testEffect('event', note) === 'refuse'),
  E0823: (context) =>
    isOpen(context, (note) => note.amountInCents > (context.municipality.cancelMaxAmountInCents ?? Infinity)),
  E0824: (context) =>
    isOpen(context, (note) => context.municipality.customerRequired === true && note.customer === undefined),
};

/** The codes of all rules that the request breaks, in the order of the annex. */
const brokenEventRules = (context: EventContext): readonly Code[] =>
  Object.entries(RULES).flatMap(([code, isBroken]) => (isBroken(context) ? [code as Code] : []));

const isBarred = ({ events }: EventContext): boolean => cancellationBar(events) !== undefined;

const isOpen = (context: EventContext, test: (note: Note) => boolean): boolean =>
  context.note !== undefined && !isBarred(context) && test(context.note);

const isTooLate = ({ municipality: { cancelDays }, now }: EventContext, note: Note): boolean =>
  cancelDays !== undefined && epochMs(now) > epochMs(note.authorizedAt) + cancelDays * DAY_MS;
