import type { StreamName } from '../../domain/common/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../event-store/event-store.js';
import type { DomainEvent } from '../event-store/event-types.js';
import { type Command, transact } from '../event-store/transact.js';

/** Of a command of an operator whose change the rows show at once. */
export type ApplyingDeps = {
  store: EventStore;
  clock: Clock;
  /** Applies what was appended to the read model at once, also while the projector is stopped (docs/architecture.md#reading-row-or-fold). */
  applyNow(stream: StreamName): Promise<void>;
  /** Hears why the row of a recorded change could not be applied; the projector applies it later. */
  rowFollows(fault: unknown): void;
  actor: `support:${string}`;
};

/** As `transact`; then the row of the stream is applied at once, unless the command was refused. Throws `StreamContended`. */
export const transactAndApply = async <State, Event extends DomainEvent, Refusal extends string = never>(
  command: Command<State, Event, Refusal>,
  deps: ApplyingDeps,
) => {
  const outcome = await transact(command, deps);
  if (outcome.kind === 'refused') return outcome;
  try {
    // Also without new events, because the process that appended the last ones may have died before it applied the row.
    await deps.applyNow(command.stream);
  } catch (error) {
    // Without new events the row is all that the command is for, and a repeat is right.
    if (outcome.kind === 'already_so') throw error;
    // An operator who reads of a fault alone repeats the command, and makes a second key or certificate.
    deps.rowFollows(error);
  }
  return outcome;
};

/** Thrown when a change is recorded that has to hold at once, and its row could not be applied; `cause` says why. A repeat of the command applies it. */
export class NotInForceYet extends Error {
  override readonly name = 'NotInForceYet';

  constructor(cause: unknown) {
    super('recorded, but not in force yet', { cause });
  }
}

/** The dependencies of a change that has to hold at once, such as a revocation: `NotInForceYet` is thrown when its row could not be applied. */
export const inForceAtOnce = (deps: ApplyingDeps): ApplyingDeps => ({
  ...deps,
  rowFollows: (fault: unknown): void => {
    throw new NotInForceYet(fault);
  },
});
