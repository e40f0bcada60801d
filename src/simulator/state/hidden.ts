import type { Cents } from '../../domain/shared/money.js';

/** Documents that look-ups do not show yet, and amounts of DPS received, which look-ups by DPS id match faults with. */
export type Hidden = {
  hide(id: string): void;
  show(id: string): void;
  has(id: string): boolean;
  /** Remembers what a DPS was about even if it never became a note. */
  sawDps(dpsId: string, amountInCents: Cents): void;
  amountOfDps(dpsId: string): Cents | undefined;
};

/** Enough for every DPS that a test can still ask about. */
const REMEMBERED = 100_000;

export const createHidden = (): Hidden => {
  const hidden = new Map<string, number>();
  const amounts = new Map<string, Cents>();
  return {
    // Counted, so that two overlapping faults do not show a note at the end of the shorter one.
    hide: (id) => hidden.set(id, (hidden.get(id) ?? 0) + 1),
    show: (id) => {
      const left = (hidden.get(id) ?? 0) - 1;
      if (left > 0) hidden.set(id, left);
      else hidden.delete(id);
    },
    has: (id) => hidden.has(id),
    sawDps: (dpsId, amountInCents) => {
      amounts.set(dpsId, amountInCents);
      const oldest = amounts.keys().next().value;
      if (amounts.size > REMEMBERED && oldest !== undefined) amounts.delete(oldest);
    },
    amountOfDps: (dpsId) => amounts.get(dpsId),
  };
};
