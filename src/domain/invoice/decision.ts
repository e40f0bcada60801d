import type { Decision as SharedDecision } from '../common/decision.js';
import type { InvoiceEvent } from './events.js';

/** A refusal of the send protocol means that the state has changed: reload and decide again. */
export type Decision = SharedDecision<InvoiceEvent>;

export const decided = (...events: InvoiceEvent[]): Decision => ({ events });

export const stale = (why: string): Decision => ({ refused: why });
