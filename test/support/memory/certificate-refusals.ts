import type { CertificateRefusal, CertificateRefusals } from '../../../src/ports/certificate-refusals.js';

/** The refusals of unit tests: the promises of the durable ones, for any number of breakers in one process. */
export const memoryRefusals = (): CertificateRefusals => {
  const rows = new Map<string, CertificateRefusal>();
  const keyOf = ({ mode, companyId }: Pick<CertificateRefusal, 'mode' | 'companyId'>): string => `${mode}/${companyId}`;
  return {
    all: async () => [...rows.values()],
    save: async ({ at, ...refusal }) => {
      const row = rows.get(keyOf(refusal));
      const before = row?.certificateId === refusal.certificateId ? row : undefined;
      const kept = before === undefined ? { since: at, seen: 1 } : { ...before, seen: before.seen + 1 };
      const probeAt = before?.probeAt ?? refusal.probeAt;
      rows.set(keyOf(refusal), { ...kept, ...refusal, probeAt, lastAt: at });
    },
    remove: async (refused) => void rows.delete(keyOf(refused)),
    claimProbe: async (refused, due, next) => {
      const row = rows.get(keyOf(refused));
      if (row?.probeAt !== due) return false;
      rows.set(keyOf(refused), { ...row, probeAt: next });
      return true;
    },
  };
};
