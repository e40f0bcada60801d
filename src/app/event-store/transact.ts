import type { Decision, Fold } from '../../domain/common/decision.js';
import type { StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import type { Revision } from '../../ports/event-log.js';
import type { CommandContext, ContextAt } from './command-context.js';
import { type EventStore, type LoadedStream, type LoadOptions, NO_STREAM } from './event-store.js';
import type { DomainEvent, ReadEvent } from './event-types.js';

/** Far more than the processes that write to one stream at the same time. */
const MAX_TRIES = 32;

export type Command<State, Event extends DomainEvent, Refusal extends string> = {
  stream: StreamName;
  /**
   * `opened` and `sealed` read the whole stream, with or without its personal fields. `last` reads the last event, sealed: for streams whose last
   * event holds the whole state.
   */
  read: 'opened' | 'sealed' | 'last';
  fold: Fold<State, ReadEvent<Event>>;
  /** Pure. Runs again on the newest state after each lost race; `now` is the instant of the try, and becomes the `recordedAt` of its events. */
  decide(state: State, loaded: LoadedStream<Event> & { now: Instant }): Decision<Event, Refusal>;
  context: ContextAt;
  /** Runs before each append, and not when nothing is appended. */
  beforeAppend?(): Promise<void>;
};

export type Outcome<State, Event extends DomainEvent, Refusal extends string> =
  /** `state` is the state after `events`; `revision` is the revision of the last of them. */
  | { kind: 'appended'; state: State; revision: Revision; events: readonly Event[] }
  /** `revision` is undefined for an empty stream. */
  | { kind: 'already_so'; state: State; revision: Revision | undefined }
  | { kind: 'refused'; refused: Refusal };

/**
 * Loads the stream, folds it, decides, and appends the events on the exact revision that was loaded. After a lost race the command is decided again,
 * then `StreamContended` is thrown. Throws what the log throws; an append of unknown outcome is not tried again, because its events may still come.
 */
export const transact = async <State, Event extends DomainEvent, Refusal extends string = never>(
  { stream, read, fold, decide, context, beforeAppend }: Command<State, Event, Refusal>,
  { store, clock }: { store: EventStore; clock: Clock },
): Promise<Outcome<State, Event, Refusal>> => {
  const evolve = (state: State, event: ReadEvent<Event>): State => fold.evolve(state, event);
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const { events: before, version } = await store.load<Event>(stream, loadOptions[read]);
    const state = before.reduce(evolve, fold.initial);
    const now = clock.now();
    const decision = decide(state, { events: before, version, now });
    if ('refused' in decision) return { kind: 'refused', refused: decision.refused };
    const { events } = decision;
    const revision = version.kind === 'none' ? undefined : version.revision;
    if (events.length === 0) return { kind: 'already_so', state, revision };
    await beforeAppend?.();
    const { ok } = await store.append(stream, version, events, context(now, before.at(-1)));
    if (ok)
      return {
        kind: 'appended',
        state: events.reduce((current, event) => evolve(current, event as unknown as ReadEvent<Event>), state),
        revision: (revision ?? -1) + events.length,
        events,
      };
  }
  throw new StreamContended();
};

const loadOptions: Record<Command<unknown, DomainEvent, string>['read'], LoadOptions | undefined> = {
  opened: undefined,
  sealed: { sealed: true },
  last: { sealed: true, direction: 'backwards', limit: 1 },
};

/** For events that are appended whatever the stream holds. */
export const anyState: Fold<undefined, DomainEvent> = { initial: undefined, evolve: () => undefined };

/** Appends the first event of a stream. False when the stream has an event already; the caller then looks whose it is. */
export const create = async (
  stream: StreamName,
  event: DomainEvent,
  context: CommandContext,
  { store }: { store: Pick<EventStore, 'append'> },
): Promise<boolean> => (await store.append(stream, NO_STREAM, [event], context)).ok;

/**
 * Thrown when other writers were first in every try. Nothing was stored: the API answers 503, a worker tries again later, a command of an operator is
 * refused in one line.
 */
export class StreamContended extends Error {
  override readonly name = 'StreamContended';

  constructor() {
    super(CONTENDED);
  }
}

/** The refusal of an operator's command. */
export const CONTENDED = 'other processes changed the same data again and again; nothing was recorded: try again';

/** For `catch`: a contended stream as the refusal of an operator's command. Throws every other error. */
export const contendedAsRefusal = (error: unknown): { kind: 'refused'; refused: string } => {
  if (error instanceof StreamContended) return { kind: 'refused', refused: CONTENDED };
  throw error;
};
