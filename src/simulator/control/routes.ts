import * as v from 'valibot';
import { CANCELLATION_EVENT } from '../../domain/common/access-key.js';
import type { Mode } from '../../domain/common/ids.js';
import { DAY_MS } from '../../domain/common/time.js';
import type { Environment, World } from '../environment.js';
import { BLOCKABLE, EVENT_TYPES, storedType } from '../event/kinds.js';
import { authorOf, linkForeignEvent } from '../event/link.js';
import type { Json } from '../http/answer.js';
import { FAULT_KINDS, FAULT_TARGETS, type Fault, type FaultKind } from '../state/faults.js';
import type { Note } from '../state/ledger.js';
import { BadInput, CNPJ, flag, MODE, members, oneOf, read, textLike, whole } from './input.js';
import { readRegistryChange } from './read-registry.js';

type ControlCall = { method: string; path: string; query: URLSearchParams; body: unknown };

type ControlAnswer = { status: number; body: unknown };

const TEN_YEARS_S = 315_360_000;

const CLOCK = members({ offset_s: whole(-TEN_YEARS_S, TEN_YEARS_S) });

const CERTIFICATE = members({
  cnpj: CNPJ,
  name: v.exactOptional(textLike(/^[^:]{1,40}$/, 'a name of 1 to 40 characters without colon')),
});

const QUERY = members({ environment: v.exactOptional(MODE) });

const KEY = textLike(/^[0-9A-Z]{50}$/, 'an access key of 50 characters');

const EVENT = members({
  environment: MODE,
  access_key: KEY,
  type: oneOf(EVENT_TYPES),
  about: v.exactOptional(oneOf(BLOCKABLE)),
  author: v.exactOptional(CNPJ),
  replaced_by: v.exactOptional(KEY),
});

/** Answers one control call; undefined for an address that does not exist. Throws `BadInput` for a wrong member. */
export const answerControl = async (world: World, call: ControlCall): Promise<ControlAnswer | undefined> => {
  switch (`${call.method} ${call.path}`) {
    case 'POST /_control/faults':
      return { status: 201, body: { id: world.faults.add(readFault(call.body)) } };
    case 'DELETE /_control/faults':
      return { status: 200, body: { cleared: world.faults.clear() } };
    case 'GET /_control/ledger':
      return { status: 200, body: await ledgerOf(world, call.query) };
    case 'GET /_control/calls':
      return { status: 200, body: world.calls.all() };
    case 'POST /_control/registry': {
      const { environment, change } = readRegistryChange(call.body);
      await world.environments[environment].registry.change(change);
      return { status: 200, body: { ok: true } };
    }
    case 'DELETE /_control/registry':
      for (const mode of modesIn(call.query)) await world.environments[mode].registry.clear();
      return { status: 200, body: { ok: true } };
    case 'POST /_control/events':
      await linkEvent(world, call.body);
      return { status: 201, body: { ok: true } };
    case 'POST /_control/certificates':
      return { status: 201, body: await certificateFor(world, call.body) };
    case 'POST /_control/clock': {
      const { offsetS } = read(CLOCK, call.body);
      world.clock.setOffset(offsetS);
      return { status: 200, body: { offset_s: offsetS } };
    }
    default:
      return undefined;
  }
};

/** A throwaway e-CNPJ for a client without a certificate; only this simulator accepts it. */
const certificateFor = async (world: World, body: unknown): Promise<Json> => {
  const { cnpj, name = `EMPRESA ${cnpj}` } = read(CERTIFICATE, body);
  const { privateKeyPem, certificatePem, caPem } = await world.issueClient({ cnpj, name });
  return { certificate_pem: certificatePem, private_key_pem: privateKeyPem, ca_pem: caPem };
};

/** The environments that a query asks for: the named one, or both without a name. */
const modesIn = (query: URLSearchParams): readonly Mode[] => {
  const { environment } = read(QUERY, Object.fromEntries([...query].filter(([, value]) => value !== '')));
  return environment === undefined ? MODE.options : [environment];
};

const ledgerOf = async (world: World, query: URLSearchParams): Promise<readonly Json[]> => {
  const entries: Json[] = [];
  for (const mode of modesIn(query)) {
    const environment = world.environments[mode];
    await environment.ledger.durable();
    for (const note of environment.ledger.notes()) entries.push(entryOf(environment, note));
  }
  return entries;
};

const entryOf = ({ mode, ledger }: Environment, note: Note): Json => {
  const canceled = ledger.event(note.accessKey, CANCELLATION_EVENT);
  const others = ledger.events(note.accessKey).filter(({ type }) => type !== CANCELLATION_EVENT);
  return {
    access_key: note.accessKey,
    dps_id: note.dpsId,
    cnpj: note.cnpj,
    number: note.number,
    amount_in_cents: note.amountInCents,
    authorized_at: note.authorizedAt,
    ...(canceled !== undefined && { canceled_at: canceled.registeredAt }),
    ...(others.length > 0 && {
      events: others.map(({ type, registeredAt }) => ({ type, registered_at: registeredAt })),
    }),
    environment: mode,
  };
};

/** `POST /_control/events`: puts an event that no client sent on an existing note. Resolves when it is on disk; throws `BadInput`. */
const linkEvent = async (world: World, body: unknown): Promise<void> => {
  const { environment: mode, accessKey, type, about, author, replacedBy } = read(EVENT, body);
  const environment = world.environments[mode];
  const { ledger } = environment;
  const isBlock = type === '305102' || type === '305103';
  if (isBlock !== (about !== undefined)) throw new BadInput('about', 'goes with 305102 and 305103, and only with them');
  if (replacedBy !== undefined && type !== '105102') throw new BadInput('replaced_by', 'goes with 105102 only');
  const note = ledger.noteByKey(accessKey);
  if (note === undefined) throw new BadInput('access_key', 'is of no note in this environment');
  const by = author ?? (await authorOf(ledger, note, type));
  if (ledger.event(accessKey, storedType(type, about)) !== undefined)
    throw new BadInput('type', 'is on the note already');
  linkForeignEvent(world, environment, note, { type, about, replacedBy, author: by });
  await ledger.durable();
};

const FAULT = members({
  on: oneOf(FAULT_TARGETS),
  kind: oneOf(FAULT_KINDS),
  times: v.optional(whole(1, 1_000_000), 1),
  match: v.optional(
    members({
      cnpj: v.exactOptional(CNPJ),
      amount_in_cents: v.exactOptional(whole(0, Number.MAX_SAFE_INTEGER)),
      environment: v.exactOptional(MODE),
    }),
    {},
  ),
  delay_ms: v.optional(whole(0, DAY_MS), 1000),
  commit: v.exactOptional(flag),
  code: v.exactOptional(
    textLike(/^(?:[A-Z]{1,4}[0-9]{1,5}|[0-9]{1,14})$/, 'an error code such as E0316, or up to 14 digits'),
  ),
  message: v.exactOptional(textLike(/^.{1,500}$/s, 'a text of 1 to 500 characters')),
});

/** Kinds whose name says whether the call commits; a request may repeat that in `commit` but not contradict it. */
const COMMITS: Partial<Record<FaultKind, boolean>> = {
  late_commit: true,
  stale: true,
  lost_after_commit: true,
  casing: true,
  lost_before_commit: false,
  reject: false,
};

/** Reads the body of `POST /_control/faults`. Throws `BadInput`. */
const readFault = (body: unknown): Fault => {
  const fault = read(FAULT, body);
  const { kind, code, commit } = fault;
  if (kind === 'reject' && code === undefined) throw new BadInput('code', 'is required for reject');
  if (commit !== undefined && commit !== (COMMITS[kind] ?? commit))
    throw new BadInput('commit', `cannot be so for ${kind}`);
  return fault;
};
