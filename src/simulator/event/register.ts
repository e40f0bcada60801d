import { CANCELLATION_EVENT } from '../../domain/common/access-key.js';
import type { Canonical } from '../../domain/common/canonical-xml.js';
import { attributeAt, nodeAt, textAt } from '../../xml/parse.js';
import { wholeSecond } from '../clock.js';
import { type Environment, otherMode, type World } from '../environment.js';
import { holderOf } from '../holder.js';
import type { Received } from '../intake.js';
import type { Code } from '../messages.js';
import { type Refusal, refusal } from '../refusal.js';
import { eventDocument } from './evento.js';
import { cancellationBar, EVENT_KINDS } from './kinds.js';
import { brokenEventRules, type EventContext } from './rules.js';

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
