import type { Invoice } from '../../src/client/client.js';
import type { RecordedEvent } from '../../src/ports/event-log.js';
import { aligned } from '../e2e/fault-table.js';
import type { PlannedInvoice } from './campaign-load.js';

export type End = { planned: PlannedInvoice; seen: Invoice };

/** Of one invoice: sends by what was recorded before them, look-ups by what the authorizer received. */
type MostCalls = { sends: number; lookUps: number };

type Call = { method: string; path: string };

export const readCalls = async (controlUrl: string): Promise<readonly Call[]> =>
  (await (await fetch(`${controlUrl}/_control/calls`)).json()) as readonly Call[];

export const mostCalls = (events: readonly RecordedEvent[], calls: readonly Call[]): MostCalls => ({
  sends: mostOf(events.filter(({ type }) => type === 'IssuanceAttempted').map(({ stream }) => stream)),
  lookUps: mostOf(calls.filter(({ path }) => path.includes('/dps/')).map(({ path }) => path)),
});

const mostOf = (names: readonly string[]): number => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Math.max(0, ...counts.values());
};

export const callsLine = ({ sends, lookUps }: MostCalls): string => `${sends} sends, ${lookUps} look-ups`;

/** How invoices ended, by the fault that was ordered for them. */
export const endsTable = (ends: readonly End[]): string => {
  const statuses = [...new Set(ends.map(({ seen }) => seen.status))].sort();
  const kinds = [...new Set(ends.map(({ planned }) => planned.fault ?? 'none'))].sort();
  const rows = kinds.map((kind) => {
    const own = ends.filter(({ planned }) => (planned.fault ?? 'none') === kind);
    return [kind, own.length, ...statuses.map((status) => own.filter(({ seen }) => seen.status === status).length)];
  });
  return aligned([['fault', 'invoices', ...statuses], ...rows]).join('\n');
};
