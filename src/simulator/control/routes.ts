import { CANCELLATION_EVENT } from '../../domain/shared/access-key.js';
import type { Mode } from '../../domain/shared/ids.js';
import type { Environment, World } from '../environment.js';
import type { Json } from '../http/answer.js';
import type { Note } from '../state/ledger.js';
import { BadInput, members, oneOf, textLike, whole } from './input.js';
import { linkEvent } from './link-event.js';
import { CNPJ, MODES, readFault } from './read-fault.js';
import { readRegistryChange } from './read-registry.js';

export type ControlCall = { method: string; path: string; query: URLSearchParams; body: unknown };

export type ControlAnswer = { status: number; body: unknown };

const TEN_YEARS_S = 315_360_000;

/** One control call. Throws `BadInput` for a wrong member; undefined for an address that does not exist. */
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
    case 'POST /_control/events':
      await linkEvent(world, call.body);
      return { status: 201, body: { ok: true } };
    case 'POST /_control/certificates':
      return { status: 201, body: await certificateFor(world, call.body) };
    case 'POST /_control/clock': {
      const fields = members(call.body);
      const offset = fields.required('offset_s', whole(-TEN_YEARS_S, TEN_YEARS_S));
      fields.done();
      world.clock.setOffset(offset);
      return { status: 200, body: { offset_s: offset } };
    }
    default:
      return undefined;
  }
};

/** For clients that have no certificate yet: a throwaway e-CNPJ, which nobody else accepts. */
const certificateFor = async (world: World, body: unknown): Promise<Json> => {
  const fields = members(body);
  const cnpj = fields.required('cnpj', CNPJ);
  const name = fields.optional('name', textLike(/^[^:]{1,40}$/, 'a name of 1 to 40 characters without colon'));
  fields.done();
  const { privateKeyPem, certificatePem, caPem } = await world.issueClient({ cnpj, name: name ?? `EMPRESA ${cnpj}` });
  return { certificate_pem: certificatePem, private_key_pem: privateKeyPem, ca_pem: caPem };
};

const ledgerOf = async (world: World, query: URLSearchParams): Promise<readonly Json[]> => {
  for (const name of query.keys()) if (name !== 'environment') throw new BadInput(name, 'is not known');
  const asked = query.get('environment');
  const modes: readonly Mode[] = asked === null ? MODES : [oneOf(MODES)(asked, 'environment')];
  const entries: Json[] = [];
  for (const mode of modes) {
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
