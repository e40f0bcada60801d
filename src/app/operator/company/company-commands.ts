import { randomBytes, randomUUID } from 'node:crypto';
import { noChange } from '../../../domain/common/decision.js';
import { type CompanyId, companyStream, dpsStream, type Mode, modes } from '../../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore } from '../../../domain/common/time.js';
import {
  apiKeyText,
  type CompanyDecision,
  type CompanyState,
  companyFold,
  createApiKey,
  NO_SUCH_COMPANY,
  putCompany,
  removeCertificates,
  revokeApiKey,
  storeCertificate,
  switchCompany,
} from '../../../domain/company/company.js';
import {
  type CompanyEvent,
  chosenMunicipalCode,
  type Registration,
  type Scope,
} from '../../../domain/company/events.js';
import { beginNumbers, dpsNumbers, dpsNumbersFrom, moveNumber } from '../../../domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../domain/dps-number/events.js';
import type { CertificateVault, CompanyCertificate } from '../../../ports/certificate-vault.js';
import { operatorContext } from '../../event-store/command-context.js';
import type { EventStore } from '../../event-store/event-store.js';
import { sha256Hex } from '../../event-store/hashes.js';
import { contendedAsRefusal, transact } from '../../event-store/transact.js';
import { heldCompanies } from '../../recovery/recorded-recoveries.js';
import { type ApplyingDeps, inForceAtOnce, transactAndApply } from '../transact-and-apply.js';

/** `refused` is one line for the operator. */
export type CommandResult<T = undefined> = { done: T } | { refused: string };

export type NewApiKey = { id: string; key: string; mode: Mode; scopes: readonly Scope[] };

/**
 * Moves the DPS numbers, live mode first; then registers the company or changes its registration. Refused, without a new registration, for a number
 * that would move back, and when other writers are first again and again. The same call again finishes what an interrupted one has begun.
 *
 * A registered company keeps its series in `modesWithoutSeries`, and a stopped series stays stopped there.
 */
export const putCompanyFile = async (
  registration: Registration,
  deps: ApplyingDeps,
  modesWithoutSeries: readonly Mode[] = [],
): Promise<CommandResult> => {
  const { events } = await deps.store.load<CompanyEvent>(companyStream(registration.cnpj));
  for (const mode of modes) {
    const recorded = recordedNumbers(events, mode);
    if (recorded.length > 0 && modesWithoutSeries.includes(mode)) continue;
    const moved = await moveDpsNumber(registration, mode, recorded, deps);
    if ('refused' in moved) return moved;
  }
  return await decideCompany(registration.cnpj, deps, (state, at) =>
    putCompany(state, keepSeries(registration, state, modesWithoutSeries), at),
  );
};

/** Decided on the state that the append is made on: another writer may have moved a series meanwhile. */
const keepSeries = (registration: Registration, state: CompanyState, kept: readonly Mode[]): Registration => {
  if (state.kind === 'none') return registration;
  const from = (mode: Mode) => (kept.includes(mode) ? state.registration : registration).dps[mode];
  return { ...registration, dps: { live: from('live'), test: from('test') } };
};

/** Adds municipal codes to the company file, for services that have none there; the others keep theirs. */
export const adoptMunicipalCodes = (
  companyId: CompanyId,
  codes: NonNullable<Registration['municipalCodes']>,
  deps: ApplyingDeps,
): Promise<CommandResult> =>
  decideCompany(companyId, deps, (state, at) => {
    if (state.kind !== 'company') return { refused: `no company ${companyId}` };
    const { municipalCodes = [] } = state.registration;
    const added = codes.filter(({ serviceCode }) => chosenMunicipalCode(state.registration, serviceCode) === undefined);
    const all = [...municipalCodes, ...added].sort((one, other) => (one.serviceCode < other.serviceCode ? -1 : 1));
    return putCompany(state, { ...state.registration, municipalCodes: all }, at);
  });

/**
 * Switches the company on or off; no change where the switch is so already. Refused for an unknown company, and for one that the last log recovery
 * could not compare: a repeated request could make a note a second time. A log recovery that ends meanwhile either finds the company enabled and
 * keeps issuing paused, or appends to the company's stream first (`holdCompanies`), and then this command decides again. Throws `NotInForceYet`.
 */
export const setCompanyEnabled = async (
  companyId: CompanyId,
  enabled: boolean,
  deps: ApplyingDeps,
): Promise<CommandResult> => {
  const refusalOfHeld = async (): Promise<string | undefined> =>
    enabled && (await heldCompanies(deps.store)).includes(companyId) ? notCompared(companyId) : undefined;
  const decide = (state: CompanyState, at: Instant): CompanyDecision => switchCompany(state, enabled, at);
  return await decideCompany(companyId, inForceAtOnce(deps), decide, refusalOfHeld);
};

/** Why a company stays disabled of which the last log recovery has asked for no live note. */
const notCompared = (companyId: CompanyId): string =>
  `company ${companyId} was not compared with the authorizer after a restore, and may have notes that the log has lost: put its certificate (nfse certificate put ${companyId}), then nfse restore --mark, which pauses issuing for all companies, and nfse doctor --reconcile`;

/** Returns the key, which is not stored; only its hash is. */
export const createKey = async (
  companyId: CompanyId,
  mode: Mode,
  scopes: readonly Scope[],
  deps: ApplyingDeps,
): Promise<CommandResult<NewApiKey>> => {
  const key = apiKeyText(mode, randomBytes(32).toString('base64url'));
  const keyId = `key_${randomUUID()}`;
  const keyHash = sha256Hex(key);
  const result = await decideCompany(companyId, deps, (state, at) =>
    createApiKey(state, { keyId, companyId, mode, scopes, keyHash }, at),
  );
  return 'refused' in result ? result : { done: { id: keyId, key, mode, scopes } };
};

/** Revokes an API key; no change for a revoked key. Refused for an unknown company or key. Throws `NotInForceYet`. */
export const revokeKey = (companyId: CompanyId, keyId: string, deps: ApplyingDeps): Promise<CommandResult> =>
  decideCompany(companyId, inForceAtOnce(deps), (state, at) => revokeApiKey(state, keyId, at));

/** Writes the vault first: an event that names a certificate missing there would stop issuing. Returns the certificate's id. */
export const putCertificate = async (
  companyId: CompanyId,
  certificate: Omit<CompanyCertificate, 'certificateId'>,
  vault: Pick<CertificateVault, 'put'>,
  deps: ApplyingDeps,
): Promise<CommandResult<string>> => {
  const certificateId = randomUUID();
  await vault.put(companyId, { ...certificate, certificateId });
  const { notBefore, notAfter, fingerprint } = certificate;
  const facts = { certificateId, notBefore, notAfter, fingerprint };
  const result = await decideCompany(companyId, deps, (state, at) => storeCertificate(state, facts, at));
  return 'refused' in result ? result : { done: certificateId };
};

/** Far longer than a put takes from its row to its event, and than the clocks of two machines differ. */
const PUT_TAKES_AT_MOST_S = 3_600;

/**
 * Takes certificates out of the database: those that a newer one replaced, or with `all` the current one too. The event comes first, so that no event
 * names a current certificate that is gone; a repeated call removes what an interrupted one left. A row that no event names is removed once it is an
 * hour old: a younger one may belong to a put whose event is still to come. Returns how many were removed. Throws `NotInForceYet`.
 */
export const removeStoredCertificates = async (
  companyId: CompanyId,
  which: 'replaced' | 'all',
  vault: Pick<CertificateVault, 'rowsOf' | 'remove'>,
  deps: ApplyingDeps,
): Promise<CommandResult<number>> => {
  const stored = await vault.rowsOf(companyId);
  const { events } = await deps.store.load<CompanyEvent>(companyStream(companyId));
  const named = new Set(
    events.map(({ type, data }) => (type === 'CertificateStored' ? data.certificateId : undefined)),
  );
  let removed: readonly string[] = [];
  // The row must not name a certificate that is gone: sends are held under such a row.
  const result = await decideCompany(companyId, inForceAtOnce(deps), (state, at) => {
    const current = state.kind === 'company' ? state.certificate?.certificateId : undefined;
    const abandonedBefore = addSeconds(at, -PUT_TAKES_AT_MOST_S);
    removed = stored
      .filter(({ certificateId, putAt }) => named.has(certificateId) || isBefore(putAt, abandonedBefore))
      .map(({ certificateId }) => certificateId)
      .filter((id) => which === 'all' || id !== current);
    return removeCertificates(state, removed, at);
  });
  if ('refused' in result) return result;
  await vault.remove(companyId, removed);
  return { done: removed.length };
};

export const loadCompany = async (companyId: CompanyId, store: EventStore) => {
  const { events, version } = await store.load<CompanyEvent>(companyStream(companyId));
  return { state: events.reduce<CompanyState>(companyFold.evolve, companyFold.initial), version };
};

const decideCompany = async (
  companyId: CompanyId,
  deps: ApplyingDeps,
  decide: (state: CompanyState, at: Instant) => CompanyDecision,
  beforeAppend: () => Promise<string | undefined> = async () => undefined,
): Promise<CommandResult> => {
  const outcome = await transactAndApply(
    {
      stream: companyStream(companyId),
      read: 'opened',
      fold: companyFold,
      decide: (state, { now }) => decide(state, now),
      beforeAppend,
      context: operatorContext('operate_company', { actor: deps.actor, companyId }),
    },
    deps,
  ).catch(contendedAsRefusal);
  if (outcome.kind !== 'refused') return { done: undefined };
  const isUnknown = outcome.refused === NO_SUCH_COMPANY;
  return { refused: isUnknown ? `no company ${companyId}: register it with company put first` : outcome.refused };
};

/** A series and its next number, as a company file names them. */
type NamedNumber = Registration['dps'][Mode];

/** The series and numbers of the company files on record, newest first. */
const recordedNumbers = (events: readonly CompanyEvent[], mode: Mode): readonly NamedNumber[] =>
  events
    .flatMap(({ type, data }) =>
      type === 'CompanyRegistered' || type === 'CompanyChanged' ? [data.registration.dps[mode]] : [],
    )
    .reverse();

/**
 * The registered number again is no change, unless the series was stopped at that number: then it continues there. A later number moves the series, and
 * an earlier number is refused. A series without events continues from the newest file that names the series. Its first event makes two writers, or an
 * issuer with an earlier file, decide one after the other.
 */
const moveDpsNumber = async (
  registration: Registration,
  mode: Mode,
  recorded: readonly NamedNumber[],
  deps: ApplyingDeps,
): Promise<CommandResult> => {
  const { series, nextNumber } = registration.dps[mode];
  const [current] = recorded;
  const isOnRecord = current?.series === series && current.nextNumber === nextNumber;
  const ofSeries = recorded.filter((earlier) => earlier.series === series).map((earlier) => earlier.nextNumber);
  const [start = 1] = ofSeries;
  const outcome = await transact(
    {
      stream: dpsStream(mode, registration.cnpj, series),
      read: 'last',
      fold: dpsNumbersFrom(start),
      decide: (numbers, { version, now }) => {
        // The other changes of such a file are recorded also after the series went on.
        if (isOnRecord && !(numbers.blocked && numbers.nextNumber === nextNumber)) return noChange;
        if (version.kind !== 'none' || nextNumber < start) return moveNumber(numbers, nextNumber, now);
        const isFirstFile = current === undefined && nextNumber === 1;
        return isFirstFile ? noChange : beginNumbers(nextNumber, now);
      },
      context: operatorContext('operate_company', { actor: deps.actor, companyId: registration.cnpj }),
    },
    deps,
  ).catch(contendedAsRefusal);
  if (outcome.kind !== 'refused') return { done: undefined };
  const wasInterrupted = !ofSeries.includes(nextNumber) && (await wasMovedTo(registration, mode, deps.store));
  return wasInterrupted ? { done: undefined } : { refused: `dps.${mode}: ${outcome.refused}` };
};

/** A series of a company file as the log has it: the number that it gives next, or at which it is stopped. */
export type NextNumber = NamedNumber & { mode: Mode; isStopped: boolean };

/** Live mode first. */
export const nextNumbersOf = (
  { cnpj, dps }: Pick<Registration, 'cnpj' | 'dps'>,
  store: Pick<EventStore, 'load'>,
): Promise<readonly NextNumber[]> =>
  Promise.all(
    modes.map(async (mode) => {
      const { series, nextNumber: start } = dps[mode];
      const { events } = await store.load<DpsNumberEvent>(dpsStream(mode, cnpj, series), LAST);
      const { nextNumber, blocked } = dpsNumbers(events[0], start);
      return { mode, series, nextNumber, isStopped: blocked };
    }),
  );

const LAST = { sealed: true, direction: 'backwards', limit: 1 } as const;

/** The newest thousand events, to find the last move of a series. */
const RECENT = { sealed: true, direction: 'backwards', limit: 1_000 } as const;

/**
 * True when a command has moved the series to this number. When no file on record names the number, that command ended before it recorded its file;
 * invoices may have taken numbers since.
 */
const wasMovedTo = async ({ cnpj, dps }: Registration, mode: Mode, store: EventStore): Promise<boolean> => {
  const { series, nextNumber } = dps[mode];
  const { events } = await store.load<DpsNumberEvent>(dpsStream(mode, cnpj, series), RECENT);
  const last = events.find(({ type }) => type !== 'DpsNumberAllocated');
  return last?.type === 'DpsNumberMoved' && last.data.nextNumber === nextNumber;
};
