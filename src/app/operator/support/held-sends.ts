import type { CompanyId, Mode } from '../../../domain/common/ids.js';
import { hasValidCertificate } from '../../../domain/company/eligibility.js';
import type { CertificateVault } from '../../../ports/certificate-vault.js';
import type { Clock } from '../../../ports/clock.js';
import type { ReadModel } from '../../../ports/read-model.js';
import type { EventStore } from '../../event-store/event-store.js';
import { type StoppedSeries, stoppedSeries } from './stopped-series.js';

/** What holds a send or a look-up back until an operator acts. */
export type Held =
  | { kind: 'certificate_missing'; companyId: CompanyId }
  | { kind: 'series_stopped'; stopped: StoppedSeries };

export type HeldDeps = {
  readModel: Pick<ReadModel, 'company'>;
  vault: Pick<CertificateVault, 'holds'>;
  store: Pick<EventStore, 'load'>;
  clock: Clock;
};

/** What is on file for the company that holds its calls back. `takesNumber`: the call sends a new DPS, which needs a number of the series. */
export const heldBy = async (
  { companyId, mode }: { companyId: CompanyId; mode: Mode },
  takesNumber: boolean,
  { readModel, vault, store, clock }: HeldDeps,
): Promise<readonly Held[]> => {
  const company = await readModel.company(companyId);
  if (company === undefined) return [];
  const { certificateId = '' } = company.certificate ?? {};
  const canSend = hasValidCertificate(company, clock.now()) && (await vault.holds(companyId, certificateId));
  const stopped = takesNumber ? await stoppedSeries([company], store) : [];
  return [
    ...(canSend ? [] : [{ kind: 'certificate_missing' as const, companyId }]),
    ...stopped.flatMap((one) => (one.mode === mode ? [{ kind: 'series_stopped' as const, stopped: one }] : [])),
  ];
};
