/** The events that a command causes. None: the command had been done already, which is a success. */
export type Decided<Event> = { events: readonly Event[] };

/** The result of every decider: events, or why the state does not allow the command. Nothing is recorded after a refusal. */
export type Decision<Event, Refusal extends string = string> = Decided<Event> | { refused: Refusal };

export const noChange: Decided<never> = { events: [] };

/** How the state of a stream follows from its events. */
export type Fold<State, Event> = { initial: State; evolve(state: State, event: Event): State };
