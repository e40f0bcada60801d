import { type ClockOffset, probeClock } from '../../adapters/authorizer/clock-probe.js';
import { createCertificateRefusals } from '../../adapters/read-model-postgres/certificate-refusals.js';
import { UnknownEventVersion } from '../../app/event-store/codec.js';
import { StoreUnavailable } from '../../app/event-store/event-store.js';
import { UNREADABLE_EVENT } from '../../app/operator/support/stopped-series.js';
import type { Check } from '../../cli/session.js';
import { dpsId } from '../../domain/common/access-key.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import { isBefore } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../ports/event-log.js';
import { municipalityCode } from '../../tables/municipalities.js';
import { authorizerAddress } from '../engines/authorizers.js';
import { certificatesOf } from '../engines/companies.js';
import { isDiskFull } from '../engines/disk-space.js';
import { runningSimulator } from '../engines/simulator.js';
import type { SessionParts } from './authorizer.js';
import { clockCheckOf } from './clock-offset.js';

const ANSWER_MS = 5_000;

/** How far the clock of each mode's authorizer differs. The call opens a company's certificate, which records an event. */
export const clockChecks = async (parts: SessionParts, actor: `support:${string}`): Promise<readonly Check[]> => {
  const refusals = await createCertificateRefusals(parts.engines.pool).all();
  const checks: Check[] = [];
  const faults: unknown[] = [];
  for (const mode of modes) {
    const asking = await companyToAskAs(mode, refusals, parts);
    const checked = await clockCheck(mode, asking, parts, actor).catch((fault: unknown) => {
      if (!isLogFault(fault)) throw fault;
      faults.push(fault);
      return notRecorded(mode, fault);
    });
    checks.push(checked);
  }
  return faults.some(isDiskFull) ? [NO_SPACE, ...checks] : checks;
};

/** `nfse doctor` tells its other checks also while the log takes no append, or holds an event of the company that this program cannot read. */
const isLogFault = (fault: unknown): fault is Error =>
  fault instanceof StoreUnavailable ||
  fault instanceof EventLogUnavailable ||
  fault instanceof AppendOutcomeUnknown ||
  fault instanceof UnknownEventVersion;

const notRecorded = (mode: Mode, fault: Error): Check => ({
  name: `clock ${mode}`,
  ok: false,
  detail: `unknown: the opening of a certificate could not be recorded (${isDiskFull(fault) ? 'no disk space' : fault.message})`,
  cure: cureOf(fault),
});

const cureOf = (fault: Error): string => {
  if (fault instanceof UnknownEventVersion) return UNREADABLE_EVENT;
  return isDiskFull(fault) ? FREE_SPACE : 'check the event log and its server, then nfse doctor again';
};

const FREE_SPACE = 'free space on the disk of the database, then nfse doctor again';

const NO_SPACE: Check = {
  name: 'database',
  ok: false,
  detail: 'no disk space: nothing can be written, so no request is accepted and no invoice is sent',
  cure: FREE_SPACE,
};

/** `isRefused`: the authorizer of the mode refuses the certificate of every company that could ask. */
type Asking = { company: Company; isRefused: boolean };

type Asked = {
  engines: {
    readModel: Pick<SessionParts['engines']['readModel'], 'companies'>;
    vault: Pick<SessionParts['engines']['vault'], 'holds'>;
  };
  clock: SessionParts['clock'];
};

/** The first company with a good certificate, before others one whose certificate the authorizer of the mode takes. */
export const companyToAskAs = async (
  mode: Mode,
  refusals: readonly Pick<CertificateRefusal, 'mode' | 'companyId' | 'certificateId'>[],
  { engines: { readModel, vault }, clock }: Asked,
): Promise<Asking | undefined> => {
  const refused = new Set(
    refusals.filter((refusal) => refusal.mode === mode).map(({ certificateId }) => certificateId),
  );
  let other: Company | undefined;
  for (const company of await readModel.companies()) {
    if (!company.enabled || company.certificate === undefined) continue;
    const { certificateId, notAfter, unusable } = company.certificate;
    if (unusable !== undefined) continue;
    const isGood = isBefore(clock.now(), notAfter) && (await vault.holds(company.registration.cnpj, certificateId));
    if (!isGood) continue;
    if (!refused.has(certificateId)) return { company, isRefused: false };
    other ??= company;
  }
  return other && { company: other, isRefused: true };
};

const clockCheck = async (
  mode: Mode,
  asking: Asking | undefined,
  parts: SessionParts,
  actor: `support:${string}`,
): Promise<Check> => {
  const name = `clock ${mode}`;
  const simulator = await runningSimulator(parts.config, parts.clock);
  const { address, trustRootsPem } = authorizerAddress(parts.config, simulator, mode);
  if (address === undefined) return { name, ok: true, detail: 'not asked: no simulator has run here' };
  if (asking === undefined) return { name, ok: true, detail: 'not asked: no enabled company has a good certificate' };
  const { company, isRefused } = asking;
  const certificateOf = certificatesOf(parts, actor, async () => company);
  const certificate = await certificateOf({ mode, companyId: company.registration.cnpj });
  if (certificate === undefined) return { name, ok: true, detail: 'not asked: the certificate could not be opened' };
  const probe = { address, trustRootsPem, certificate, timeoutMs: ANSWER_MS, now: parts.clock.now };
  const asked = await probeClock(idToAsk(mode, company), probe);
  return offsetCheck(name, asked, { mode, isRefused }, parts.config);
};

const idToAsk = (mode: Mode, { registration: { cnpj, city, state, dps } }: Company): string => {
  const { series, nextNumber: number } = dps[mode];
  return dpsId({ municipality: municipalityCode(city, state) ?? '0000000', cnpj, series, number });
};

/** Codes of Node for a certificate that no trusted authority vouches for. */
const NOT_TRUSTED = /SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)/;

const cureOfSilence = (reason: string): string =>
  NOT_TRUSTED.test(reason)
    ? 'name the authority of its certificate in AUTHORIZER_CA_FILE, and a mode that a simulator serves in SIMULATED_MODES'
    : 'check the address, the network and what the national system says of its state';

/** A refusal is an answer of HTTP; without one the network or the address is at fault. */
const ANSWERED = /^HTTP \d/;

const REFUSED =
  'the authorizer refuses the certificate of every company that could ask, see the lines certificate CNPJ mode: mend one of these first';

export const offsetCheck = (
  name: string,
  asked: ClockOffset,
  { mode, isRefused }: { mode: Mode; isRefused: boolean },
  { authorizer, limits }: Pick<SessionParts['config'], 'authorizer' | 'limits'>,
): Check => {
  if (asked.kind === 'unknown') {
    const cure = isRefused && ANSWERED.test(asked.reason) ? REFUSED : cureOfSilence(asked.reason);
    const detail = `the clock of the authorizer could not be read (${asked.reason})`;
    // A simulator inside the service runs only while the service does, and a command may run without the service.
    return authorizer[mode] === undefined
      ? { name, ok: true, detail: `${detail}: the simulator runs with the service` }
      : { name, ok: false, detail, cure };
  }
  return clockCheckOf(name, "the authorizer's", asked.seconds, limits.queuedSeconds);
};
