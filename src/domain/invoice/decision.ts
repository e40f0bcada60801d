import type { InvoiceEvent } from './events.js';

/** No events means "already so", which is a success; `stale` means the state no longer allows the command: reload and look again. */
export type Decision = { events: readonly InvoiceEvent[] } | { stale: string };

export const record = (...events: InvoiceEvent[]): Decision => ({ events });

export const alreadySo: Decision = { events: [] };

export const stale = (why: string): Decision => ({ stale: why });
