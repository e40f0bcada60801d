import type { CompanyId, Mode } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

/** Since when the authorizer of a mode refuses a company's certificate, in how many answers, and when it is asked again. */
export type CertificateRefusal = {
  mode: Mode;
  companyId: CompanyId;
  certificateId: string;
  /** Kind of the refusal; never a text of the authorizer. */
  reason: string;
  since: Instant;
  seen: number;
  lastAt: Instant;
  probeAt: Instant;
};

type Refused = Pick<CertificateRefusal, 'mode' | 'companyId'>;

/** The refusals that stand, for all processes of the service: one per mode and company. Losing them costs one more refused send each (ADR 47). */
export type CertificateRefusals = {
  all(): Promise<readonly CertificateRefusal[]>;
  /**
   * Records one more refusal. A further refusal of the same certificate changes neither `since` nor `probeAt`. The first of another certificate
   * replaces what stood, with 1 as `seen`.
   */
  save(refusal: Omit<CertificateRefusal, 'since' | 'seen' | 'lastAt'> & { at: Instant }): Promise<void>;
  /** The authorizer takes the company's certificate. */
  remove(refused: Refused): Promise<void>;
  /** True for one caller among all processes that saw a probe due at `due`; the next one is due at `next`. */
  claimProbe(refused: Refused, due: Instant, next: Instant): Promise<boolean>;
};
