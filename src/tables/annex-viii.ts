import type { AnnexVIII, IbsCbsOptions } from '../domain/company/ibs-cbs.js';
import { once, readTable } from './tsv.js';

const options = once(() => {
  const byLine = new Map<string, IbsCbsOptions>();
  for (const { service_code, nbs, ind_op, class_trib } of readTable('annex-viii.tsv', [
    'service_code',
    'nbs',
    'ind_op',
    'class_trib',
  ])) {
    byLine.set(lineKey(service_code, nbs), { cIndOp: ind_op.split(' '), cClassTrib: class_trib.split(' ') });
  }
  return byLine;
});

/** Which operations and classifications annex VIII has for a service under an NBS code. */
export const annexVIII: AnnexVIII = (serviceCode, nbs) => options().get(lineKey(serviceCode, nbs));

const lineKey = (serviceCode: string, nbs: string): string => `${serviceCode} ${nbs}`;
