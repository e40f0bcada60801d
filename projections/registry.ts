import { catalogLines } from './catalog-lines.js';
import { companies } from './companies.js';
import { credentials } from './credentials.js';
import { deadlines } from './deadlines.js';
import { invoices } from './invoices.js';
import { municipalities } from './municipalities.js';
import { system } from './system.js';
import { taxRegistry } from './tax-registry.js';
import type { Projection } from './types.js';

/** Operators' commands write these rows themselves, so that a change holds at once (docs/architecture.md#reading-row-or-fold). */
export const operatorProjections: readonly Projection[] = [
  companies,
  credentials,
  system,
  catalogLines,
  municipalities,
  taxRegistry,
];

export const allProjections: readonly Projection[] = [invoices, deadlines, ...operatorProjections];
