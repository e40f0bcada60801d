import type { StreamName } from '../../domain/common/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../event-store/event-store.js';
import type { DomainEvent } from '../event-store/event-types.js';
import { type Command, transact } from '../event-store/transact.js';

/** `applyNow` applies what was appended to the read model at once, also while the projector is stopped. */
type ApplyingDeps = { store: EventStore; clock: Clock; applyNow(stream: StreamName): Promise<void> };

/** As `transact`; then the row of the stream is applied at once, unless the command was refused. Throws `StreamContended`. */
export const transactAndApply = async <State, Event extends DomainEvent, Refusal extends string = never>(
  command: Command<State, Event, Refusal>,
  deps: ApplyingDeps,
) => {
  const outcome = await transact(command, deps);
  // Also without new events, because the process that appended the last ones may have died before it applied the row.
  if (outcome.kind !== 'refused') await deps.applyNow(command.stream);
  return outcome;
};
