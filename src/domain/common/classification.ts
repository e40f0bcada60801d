/**
 * A tax classification of IBS and CBS (`cClassTrib`) that a NFS-e may carry. Reductions of the rates are in percent. `rate`: `standard` rates are
 * those of the year; `none` is taxed at nothing; the others have rates of their own, which the law fixes (docs/national-system.md#classifications).
 * `asksForRegular`: `gTribRegular` is demanded (E0965), otherwise forbidden (E0964).
 */
export type Classification = {
  reductionIbs: number;
  reductionCbs: number;
  rate: 'standard' | 'none' | 'fixed' | 'national' | 'sector';
  asksForRegular: boolean;
};

/** Undefined for a code that is in no table, or that is not for services (E0958). */
export type Classifications = (cClassTrib: string) => Classification | undefined;

/** The CST is the first three digits (E0959). */
export const cstOf = (cClassTrib: string): string => cClassTrib.slice(0, 3);

/** True for the classifications with deferral, CST 510 and 515: `gDif` is demanded (E0972), otherwise forbidden (E0971). */
export const asksForDeferral = (cClassTrib: string): boolean => /^51[05]/.test(cClassTrib);
