import type { StreamName } from '../src/domain/shared/ids.js';
import type { Revision } from '../src/ports/event-log.js';

export type ColumnType = 'text' | 'integer' | 'boolean';

/** Every row carries the revision of the last event folded into it: meeting that event again changes nothing. */
export type Row = { readonly [column: string]: string | number | boolean | null } & { readonly revision: Revision };

type AnyEvent = { type: string; data: unknown };

/** An event at its place in the log, of the newest schema version, its personal fields as they are stored: sealed. */
export type Recorded<E extends AnyEvent> = E & { stream: StreamName; revision: Revision };

/** Pure: the same row and event give the same row, byte for byte, in a rebuild years later. */
export type Handler<R extends Row, E extends AnyEvent> = (row: R | undefined, event: Recorded<E>) => R | 'delete';

/** A handler per event type, which the compiler demands; `ignored` is a decision, not an omission. */
export type Handlers<R extends Row, E extends AnyEvent> = {
  readonly [T in E['type']]: Handler<R, Extract<E, { type: T }>> | 'ignored';
};

export type Index = { columns: readonly string[]; unique?: true };

type Definition<R extends Row, E extends AnyEvent> = {
  name: string;
  /** A new number builds the next table beside this one and swaps when it has caught up. */
  version: number;
  /**
   * Oldest version that reads these rows, and whose rows this version's readers can use; default its own. Lower it
   * only after adding columns that nobody needs yet: expand, then contract.
   */
  compatibleFrom?: number;
  /** Of the streams that it reads; exactly the events of `eventTypes` are in them. */
  prefixes: readonly [string, ...string[]];
  eventTypes: readonly E['type'][];
  keyColumn: keyof R & string;
  columns: { readonly [C in keyof R & string]: ColumnType };
  indexes: readonly Index[];
  /** Which row an event is about; undefined: none of this projection. */
  keyOf(event: Recorded<E>): string | undefined;
  handlers: Handlers<R, E>;
};

/** A read model as the runner sees it: rows and events of any shape. */
export type Projection = {
  readonly name: string;
  readonly version: number;
  readonly compatibleFrom?: number;
  readonly prefixes: readonly [string, ...string[]];
  readonly eventTypes: readonly string[];
  readonly keyColumn: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly indexes: readonly Index[];
  keyOf(event: Recorded<AnyEvent>): string | undefined;
  readonly handlers: Readonly<Record<string, Handler<Row, AnyEvent> | 'ignored'>>;
};

/** The types of rows and events end here; they hold because the runner hands each handler its own events and rows only. */
export const defineProjection = <R extends Row, E extends AnyEvent>(definition: Definition<R, E>): Projection =>
  definition as unknown as Projection;
