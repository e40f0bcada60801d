import type { StreamName } from '../src/domain/common/ids.js';
import type { Revision } from '../src/ports/event-log.js';

type ColumnType = 'text' | 'integer' | 'bigint' | 'boolean';

declare const value: unique symbol;

/** The SQL type of a column; `T` is the type of its values in a row. */
type Column<T = unknown> = ColumnType & { readonly [value]?: T };

type Columns = Readonly<Record<string, Column>>;

export const text = <T extends string | null = string>(): Column<T> => 'text';
export const integer = <T extends number | null = number>(): Column<T> => 'integer';
/** For whole numbers above 2^31; rows hold them as a number, so they must be safe integers. */
export const bigint = <T extends number | null = number>(): Column<T> => 'bigint';
export const boolean = <T extends boolean | null = boolean>(): Column<T> => 'boolean';

/** The row type of a table with these columns. */
export type RowOf<C extends Columns> = { [K in keyof C]: C[K] extends { readonly [value]?: infer T } ? T : never };

/** Every row carries the revision of the last event folded into it. That event, delivered again, changes nothing. */
export type Row = { readonly [column: string]: string | number | boolean | null } & { readonly revision: Revision };

type AnyEvent = { type: string; data: unknown };

/** An event with its stream and revision, in the newest schema version. Its personal fields are sealed, as stored. */
export type Recorded<E extends AnyEvent> = E & { stream: StreamName; revision: Revision };

/** Pure: the same row and event give the same bytes, also in a rebuild years later. */
type Handler<R extends Row, E extends AnyEvent> = (row: R | undefined, event: Recorded<E>) => R | 'delete';

/** A handler for each event type; the compiler refuses an omission. `ignored` says that leaving out the type is intended. */
export type Handlers<R extends Row, E extends AnyEvent> = {
  readonly [T in E['type']]: Handler<R, Extract<E, { type: T }>> | 'ignored';
};

/** The same handler for every type of the streams: for a row that is the domain's own fold. */
export const everyType = <R extends Row, E extends AnyEvent>(
  eventTypes: readonly E['type'][],
  handler: (row: R | undefined, event: Recorded<E>) => R,
): Handlers<R, E> => Object.fromEntries(eventTypes.map((type) => [type, handler])) as unknown as Handlers<R, E>;

/** `sparse`: rows without a value in the first column are left out, because most rows have none and no reader looks for those. */
type Index = { columns: readonly [string, ...string[]]; sparse?: true };

type Definition<R extends Row, E extends AnyEvent> = {
  name: string;
  /** A higher number builds the next table beside this one and makes it live when it has caught up. */
  version: number;
  /**
   * Oldest version whose code can use these rows and whose rows this code can use; by default `version`. Lower it only after adding
   * columns that no reader needs yet (expand, then contract).
   */
  compatibleFrom?: number;
  /** Prefixes of the streams that this projection reads. Those streams hold exactly the events of `eventTypes`. */
  prefixes: readonly [string, ...string[]];
  eventTypes: readonly E['type'][];
  keyColumn: keyof R & string;
  columns: { readonly [C in keyof R & string]: Column<R[C]> };
  indexes: readonly Index[];
  /** Key of the row that an event changes; undefined when it changes no row of this projection. */
  keyOf(event: Recorded<E>): string | undefined;
  handlers: Handlers<R, E>;
  /** The row that the handlers make of these events one after another, at less cost. Without it the runner calls the handlers. */
  foldAll?(row: R | undefined, events: OneOrMore<Recorded<E>>): R;
};

export type OneOrMore<T> = readonly [T, ...T[]];

/** A read model for the runner, with untyped rows and events. */
export type Projection = Readonly<Definition<Row, AnyEvent>>;

/** Removes the types of rows and events. This is sound because the runner gives each handler only its own rows and events. */
export const defineProjection = <R extends Row, E extends AnyEvent>(definition: Definition<R, E>): Projection =>
  definition as unknown as Projection;
