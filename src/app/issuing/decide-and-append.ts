import type { StreamName } from '../../domain/common/ids.js';
import type { Decision } from '../../domain/invoice/decision.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { Clock } from '../../ports/clock.js';
import type { AppendSite } from '../event-store/append-sites.js';
import { type CommandContext, workerContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { type Command, transact } from '../event-store/transact.js';
import { invoiceFold } from '../read/read-invoice.js';

/**
 * Decides on the newest state and appends. False when the state no longer allows the command. Deciding needs no key, and neither does appending a
 * verdict, which has no personal field. Throws `StreamContended`.
 */
export const decideAndAppend = async (
  stream: StreamName,
  site: AppendSite,
  deps: { store: EventStore; clock: Clock; actor: CommandContext['actor'] },
  decide: (state: InvoiceState) => Decision,
): Promise<boolean> => (await transact(commandOf(stream, site, deps, decide), deps)).kind !== 'refused';

export const commandOf = (
  stream: StreamName,
  site: AppendSite,
  deps: { actor: CommandContext['actor'] },
  decide: (state: InvoiceState) => Decision,
): Command<InvoiceState, InvoiceEvent, string> => {
  const context = workerContext(stream, site, deps);
  return { stream, read: 'sealed', fold: invoiceFold, decide, context };
};
