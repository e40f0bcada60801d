import type { Accepted } from './facts.js';

/** A field that differs: its path, what the sample has, what we write, and why that is right. */
export type Difference = readonly [path: string, sample: string | null, ours: string | null, reason: string];

export type Situation = {
  file: string;
  /** Path of the DPS in the file. */
  root: string;
  series: string;
  number: number;
  accepted: Accepted;
  differences: readonly Difference[];
};

const OWN_NAME = 'every program sends its own name';
export const NO_CONTACT = 'the API has no field for a telephone or an e-mail, and the layout does not ask for one';
export const NO_ADDRESS = 'the API has no field for it; the address is sent only where a rule demands it (ADR 16)';
export const NO_FEDERAL = 'the API has no fields for federal taxes, whose declaration is optional';
export const NO_AMOUNTS = 'the company file has one percentage, so the percentages are declared and not amounts';
export const NO_FINAL = 'optional, about to end, and nobody tells us (ADR 16)';

export const gone = (reason: string, fields: Readonly<Record<string, string>>): readonly Difference[] =>
  Object.entries(fields).map(([path, sample]) => [path, sample, null, reason]);

export const program = (name: string): Difference => ['infDPS/verAplic', name, 'nfse-issuance_1', OWN_NAME];
