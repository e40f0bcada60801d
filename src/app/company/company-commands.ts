import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { apiKeyText } from '../../domain/company/api-key.js';
import {
  type CompanyDecision,
  type CompanyState,
  createApiKey,
  evolveCompany,
  initialCompany,
  putCompany,
  revokeApiKey,
  storeCertificate,
  switchCompany,
} from '../../domain/company/company.js';
import type { CertificateFacts, CompanyEvent, Registration, Scope } from '../../domain/company/events.js';
import { type DpsNumberEvent, dpsNumbers, moveNumber } from '../../domain/dps-number/dps-number.js';
import { type CompanyId, companyStream, dpsStream, type Mode, type StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { CommandContext } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';

/** `refused` is one line for the operator. */
export type CommandResult<T = undefined> = { done: T } | { refused: string };

export type CompanyCommandDeps = {
  store: EventStore;
  clock: Clock;
  /** Puts what was appended into the read model at once, also with the projector stopped (design section 7). */
  applyNow(stream: StreamName): Promise<void>;
  actor: `support:${string}`;
};

export type NewApiKey = { id: string; key: string; mode: Mode; scopes: readonly Scope[] };

export const putCompanyFile = async (registration: Registration, deps: CompanyCommandDeps): Promise<CommandResult> => {
  const before = await loadCompany(registration.cnpj, deps.store);
  for (const mode of ['live', 'test'] as const) {
    const moved = await moveDpsNumber(registration, mode, before.state, deps);
    if ('refused' in moved) return moved;
  }
  return await decideCompany(registration.cnpj, deps, (state) => putCompany(state, registration, deps.clock.now()));
};

export const setCompanyEnabled = (
  companyId: CompanyId,
  enabled: boolean,
  deps: CompanyCommandDeps,
): Promise<CommandResult> => decideCompany(companyId, deps, (state) => switchCompany(state, enabled, deps.clock.now()));

/** The key is in the answer and nowhere else; only its hash is kept. */
export const createKey = async (
  companyId: CompanyId,
  mode: Mode,
  scopes: readonly Scope[],
  deps: CompanyCommandDeps,
): Promise<CommandResult<NewApiKey>> => {
  const key = apiKeyText(mode, randomBytes(32).toString('base64url'));
  const keyId = `key_${randomUUID()}`;
  const keyHash = createHash('sha256').update(key).digest('hex');
  const result = await decideCompany(companyId, deps, (state) =>
    createApiKey(state, { keyId, companyId, mode, scopes, keyHash }, deps.clock.now()),
  );
  return 'refused' in result ? result : { done: { id: keyId, key, mode, scopes } };
};

export const revokeKey = (companyId: CompanyId, keyId: string, deps: CompanyCommandDeps): Promise<CommandResult> =>
  decideCompany(companyId, deps, (state) => revokeApiKey(state, keyId, deps.clock.now()));

export const recordCertificate = (
  companyId: CompanyId,
  facts: CertificateFacts,
  deps: CompanyCommandDeps,
): Promise<CommandResult> =>
  decideCompany(companyId, deps, (state) => storeCertificate(state, facts, deps.clock.now()));

export const loadCompany = async (companyId: CompanyId, store: EventStore) => {
  const { events, version } = await store.load<CompanyEvent>(companyStream(companyId));
  return { state: events.reduce<CompanyState>(evolveCompany, initialCompany), version };
};

const decideCompany = async (
  companyId: CompanyId,
  deps: CompanyCommandDeps,
  decide: (state: CompanyState) => CompanyDecision,
): Promise<CommandResult> => {
  const stream = companyStream(companyId);
  for (;;) {
    const { state, version } = await loadCompany(companyId, deps.store);
    const decision = decide(state);
    if ('refused' in decision) return decision;
    if (decision.events.length === 0) return { done: undefined };
    if (!(await deps.store.append(stream, version, decision.events, operatorContext(companyId, deps))).ok) continue;
    await deps.applyNow(stream);
    return { done: undefined };
  }
};

/** A number named again as it was registered is no change; a later one moves the series, an earlier one is refused. */
const moveDpsNumber = async (
  registration: Registration,
  mode: Mode,
  before: CompanyState,
  deps: CompanyCommandDeps,
): Promise<CommandResult> => {
  const { series, nextNumber } = registration.dps[mode];
  const registered = before.kind === 'company' ? before.registration.dps[mode] : undefined;
  if (registered?.series === series && registered.nextNumber === nextNumber) return { done: undefined };
  const stream = dpsStream(mode, registration.cnpj, series);
  for (;;) {
    const { events, version } = await deps.store.load<DpsNumberEvent>(stream, { direction: 'backwards', limit: 1 });
    if (version.kind === 'none') return { done: undefined };
    const moved = moveNumber(dpsNumbers(events[0], nextNumber), nextNumber, deps.clock.now());
    if ('refused' in moved) return { refused: `dps.${mode}: ${moved.refused}` };
    const context = operatorContext(registration.cnpj, deps);
    if (moved.events.length === 0 || (await deps.store.append(stream, version, moved.events, context)).ok)
      return { done: undefined };
  }
};

const operatorContext = (companyId: CompanyId, deps: CompanyCommandDeps): CommandContext => {
  const commandId = randomUUID();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: deps.actor,
    companyId,
    now: deps.clock.now(),
    site: 'operate_company',
  };
};
