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

type StreamCommand<State, Event extends DomainEvent> = {
  stream: StreamName;
  /**
   * `opened` and `sealed` read the whole stream, with or without its personal fields. `last` reads the last event, sealed: for streams whose last
   * event holds the whole state.
   */
  read: 'opened' | 'sealed' | 'last';
  /** The stream as an append of the caller has just left it, which spares the first try its read. Another writer makes that try a lost race. */
  known?: LoadedStream<Event> | undefined;
  fold: Fold<State, ReadEvent<Event>>;
};

type Deciding<State, Event extends DomainEvent, Refusal extends string> = {
  /** Pure. Runs again on the newest state after each lost race; `now` is the instant of the try, and becomes the `recordedAt` of its events. */
  decide(state: State, loaded: LoadedStream<Event> & { now: Instant }): Decision<Event, Refusal>;
  context: ContextAt;
};

export type Command<State, Event extends DomainEvent, Refusal extends string> = StreamCommand<State, Event> &
  Deciding<State, Event, Refusal> & {
    /** Runs before each append, and not when nothing is appended. Nothing is appended when it resolves with a refusal. */
    beforeAppend?(): Promise<Refusal | undefined>;
  };

type Outcome<State, Event extends DomainEvent, Refusal extends string> =
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
  command: Command<State, Event, Refusal>,
  deps: { store: EventStore; clock: Clock },
): Promise<Outcome<State, Event, Refusal>> => {
  const [outcome] = await transactTogether({ ...command, commands: [command] }, deps);
  if (outcome === undefined) throw new Error('a command has one outcome');
  return outcome;
};

type Together<State, Event extends DomainEvent, Refusal extends string> = StreamCommand<State, Event> &
  Pick<Command<State, Event, Refusal>, 'beforeAppend'> & { commands: readonly Deciding<State, Event, Refusal>[] };

/**
 * As `transact`, for several commands on one stream: each is decided on the state that the commands before it leave, and one append stores the events
 * of all. Returns the outcomes in the order of the commands. A refused command stores nothing and does not concern the others.
 */
export const transactTogether = async <State, Event extends DomainEvent, Refusal extends string = never>(
  { stream, read, known, fold, commands, beforeAppend }: Together<State, Event, Refusal>,
  { store, clock }: { store: EventStore; clock: Clock },
): Promise<readonly Outcome<State, Event, Refusal>[]> => {
  const evolve = (state: State, event: ReadEvent<Event>): State => fold.evolve(state, event);
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const isKnown = attempt === 1 && known !== undefined;
    const loaded = isKnown ? known : await store.load<Event>(stream, loadOptions[read]);
    const { events: before, version } = loaded;
    const now = clock.now();
    let state = before.reduce(evolve, fold.initial);
    let revision = version.kind === 'none' ? undefined : version.revision;
    const added: { event: Event; context: CommandContext }[] = [];
    const outcomes = commands.map(({ decide, context }): Outcome<State, Event, Refusal> => {
      const decision = decide(state, { ...loaded, now });
      if ('refused' in decision) return { kind: 'refused', refused: decision.refused };
      const { events } = decision;
      if (events.length === 0) return { kind: 'already_so', state, revision };
      const own = context(now, before.at(-1));
      added.push(...events.map((event) => ({ event, context: own })));
      state = events.reduce((current, event) => evolve(current, event as unknown as ReadEvent<Event>), state);
      revision = ((revision ?? -1) + events.length) as Revision;
      return { kind: 'appended', state, revision, events };
    });
    const [first] = added;
    if (first === undefined) return outcomes;
    const refused = await beforeAppend?.();
    if (refused !== undefined) return commands.map(() => ({ kind: 'refused', refused }));
    const context = added.every((one) => one.context === first.context)
      ? first.context
      : { ...first.context, ofEvents: added.map((one) => one.context) };
    const events = added.map(({ event }) => event);
    if ((await store.append(stream, version, events, context)).ok) return outcomes;
  }
  throw new StreamContended();
};

const loadOptions: Record<StreamCommand<unknown, DomainEvent>['read'], LoadOptions | undefined> = {
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
