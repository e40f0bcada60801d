import type { CompanyId, Mode } from '../../../domain/common/ids.js';
import { hasValidCertificate } from '../../../domain/company/eligibility.js';
import type { CertificateRefusal } from '../../../ports/certificate-refusals.js';
import type { CertificateVault } from '../../../ports/certificate-vault.js';
import type { Clock } from '../../../ports/clock.js';
import type { ReadModel } from '../../../ports/read-model.js';
import type { EventStore } from '../../event-store/event-store.js';
import { type StoppedSeries, stoppedSeries } from './stopped-series.js';

/** What holds a send or a look-up back until an operator acts, or until the authorizer takes the certificate again. */
export type Held =
  | { kind: 'certificate_missing'; companyId: CompanyId }
  | { kind: 'certificate_refused'; refusal: CertificateRefusal }
  | { kind: 'series_stopped'; stopped: StoppedSeries };

export type HeldDeps = {
  readModel: Pick<ReadModel, 'company'>;
  vault: Pick<CertificateVault, 'holds'>;
  store: Pick<EventStore, 'load'>;
  clock: Clock;
  /** Certificates that the authorizer refuses. */
  refusedCertificates(): Promise<readonly CertificateRefusal[]>;
};

/** A refused certificate holds sends alone. `takesNumber`: the send is of a new DPS, which needs a number of the series. */
type HeldCall = { isSend: boolean; takesNumber: boolean };

/** What is on file for the company that holds its calls back. */
export const heldBy = async (
  { companyId, mode }: { companyId: CompanyId; mode: Mode },
  { isSend, takesNumber }: HeldCall,
  { readModel, vault, store, clock, refusedCertificates }: HeldDeps,
): Promise<readonly Held[]> => {
  const company = await readModel.company(companyId);
  if (company === undefined) return [];
  const { certificateId = '' } = company.certificate ?? {};
  const canSend = hasValidCertificate(company, clock.now()) && (await vault.holds(companyId, certificateId));
  const refused = canSend && isSend ? await refusedCertificates() : [];
  const refusal = refused.find(
    (one) => one.mode === mode && one.companyId === companyId && one.certificateId === certificateId,
  );
  const stopped = takesNumber ? await stoppedSeries([company], store) : [];
  return [
    ...(canSend ? [] : [{ kind: 'certificate_missing' as const, companyId }]),
    ...(refusal === undefined ? [] : [{ kind: 'certificate_refused' as const, refusal }]),
    ...stopped.flatMap((one) => (one.mode === mode ? [{ kind: 'series_stopped' as const, stopped: one }] : [])),
  ];
};
