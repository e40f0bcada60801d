import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Projection, Row } from '../../projections/types.js';
import { decodeSealed } from '../../src/app/event-store/codec.js';
import { sha256Hex } from '../../src/app/event-store/hashes.js';
import type { LogPosition, RecordedEvent } from '../../src/ports/event-log.js';

/** What a version of a projection makes: hashes of its table and, for each golden event, of the rows that the event gives. */
export type Pins = { version: number; table: string; rows: Readonly<Record<string, string>> };

const GOLDEN = fileURLToPath(new URL('../golden/events/', import.meta.url));

/** Golden events that make the rows on which every event is tried, besides no row. */
const LIVES: readonly (readonly string[])[] = [
  ['InvoiceAccepted.v2'],
  ['InvoiceAccepted.v2', 'IssuanceAttempted.v2'],
  ['InvoiceAccepted.v2', 'IssuanceAttempted.v2', 'Authorized.v1'],
  [
    'InvoiceAccepted.v2',
    'IssuanceAttempted.v2',
    'Authorized.v1',
    'CancellationRequested.v1',
    'CancellationAttempted.v2',
  ],
  ['CompanyRegistered.v1'],
  ['CompanyRegistered.v1', 'CertificateStored.v1'],
  ['CompanyRegistered.v1', 'ApiKeyCreated.v1'],
  ['ApiSwitchedOff.v1'],
];

/** A new fact inside this column needs no new version (docs/projections.md#rules). */
const UNPINNED_COLUMN = 'state';

type GoldenEvent = ReturnType<typeof decodeSealed>;

const goldenEvent = (name: string): GoldenEvent => {
  const { event } = JSON.parse(readFileSync(`${GOLDEN}${name}.json`, 'utf8')) as { event: RecordedEvent };
  return decodeSealed({ ...event, position: 1n as LogPosition });
};

export const pinsOf = (projection: Projection): Pins => {
  const { version, keyColumn, columns, indexes, eventTypes, handlers } = projection;
  const reads = (name: string): boolean => eventTypes.includes(name.split('.')[0] ?? '');
  const bases = LIVES.filter((life) => life.every(reads)).map((life) => rowOf(projection, life));
  const rows: Record<string, string> = {};
  for (const file of readdirSync(GOLDEN).toSorted()) {
    const name = file.replace(/\.json$/, '');
    if (!reads(name)) continue;
    const event = goldenEvent(name);
    const handler = handlers[event.type];
    if (handler === undefined || handler === 'ignored') rows[name] = 'ignored';
    else rows[name] = hashOf([undefined, ...bases].map((row) => madeBy(() => pinned(handler(row, event)))));
  }
  return { version, table: hashOf({ keyColumn, columns, indexes }), rows };
};

const rowOf = ({ handlers }: Projection, life: readonly string[]): Row | undefined => {
  let row: Row | undefined;
  for (const name of life) {
    const event = goldenEvent(name);
    const handler = handlers[event.type];
    const next = handler === undefined || handler === 'ignored' ? row : handler(row, event);
    row = next === 'delete' ? undefined : next;
  }
  return row;
};

const pinned = (row: Row | 'delete') => {
  if (row === 'delete') return row;
  const { [UNPINNED_COLUMN]: _state, ...columns } = row;
  return columns;
};

/** A handler may refuse an event that cannot follow this row. */
const madeBy = (make: () => unknown): unknown => {
  try {
    return make();
  } catch {
    return 'refused';
  }
};

const hashOf = (made: unknown): string => sha256Hex(JSON.stringify(made)).slice(0, 16);

/** What the pins do not allow: another table or other rows under a version that is pinned already. */
export const changedUnder = (stored: Pins, made: Pins): readonly string[] =>
  stored.version !== made.version
    ? []
    : [
        ...(stored.table === made.table ? [] : ['its columns, key or indexes']),
        ...Object.keys(stored.rows)
          .filter((name) => stored.rows[name] !== made.rows[name])
          .map((name) => `its rows of ${name}`),
      ];
