import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { DuplicateMark, DuplicateWindow, Fingerprints } from '../../ports/duplicate-window.js';
import { columnsOf } from '../sql/arrays.js';
import { batched } from '../sql/batched.js';
import { type LogApart, unlessPaused } from './unless-paused.js';

type MarkRow = { place: number; stream: string; at: Instant; placed_by: string };

/** `unlessStream` and `unlessAt` are a mark that is ignored. */
type Wanted = Fingerprints &
  DuplicateMark & {
    placedBy: string;
    youngerThan: Instant | null;
    unlessStream: StreamName | null;
    unlessAt: Instant | null;
  };

export const duplicateWindow = (db: pg.Pool, { logApart }: LogApart): DuplicateWindow => {
  const placed = batched<Wanted, MarkRow>(async (wanted) => {
    const isPlain = wanted.every((one) => one.placed.length === 1 && one.unlessStream === null);
    const rows = await unlessPaused<MarkRow>(
      db,
      isPlain ? placeOne(wanted) : placeEach(wanted),
      wanted.some(isReserving) ? logApart : undefined,
    );
    return rows.sort((one, other) => one.place - other.place);
  });
  const place = async (
    fingerprints: Fingerprints,
    mark: DuplicateMark,
    youngerThan: Instant | null,
    unless?: DuplicateMark,
  ): Promise<DuplicateMark | undefined> => {
    const placedBy = randomUUID();
    const ignored = { unlessStream: unless?.stream ?? null, unlessAt: unless?.at ?? null };
    const row = await placed({ ...fingerprints, ...mark, youngerThan, placedBy, ...ignored });
    return row.placed_by === placedBy ? undefined : { stream: row.stream, at: row.at };
  };
  return {
    place,
    takeOver: async (fingerprints, from, to, youngerThan) =>
      (await place(fingerprints, to, youngerThan, from)) === undefined,
    remove: async ({ placed: under }, { stream, at }) => {
      await db.query({ name: 'mark-remove', text: REMOVE, values: [under, stream, at] });
    },
  };
};

/** A mark that is placed in any case follows an acceptance, and one that takes another's place belongs to a request that has reserved before. */
const isReserving = ({ youngerThan, unlessStream }: Wanted): boolean => youngerThan !== null && unlessStream === null;

/** The usual case: one fingerprint for each request, and no mark is taken over. */
const placeOne = (wanted: readonly Wanted[]) => ({
  name: 'mark-place',
  text: PLACE_ONE,
  values: [wanted.map(({ placed }) => placed[0]), ...columnsOf(wanted, COLUMNS)],
});

const placeEach = (wanted: readonly Wanted[]) => ({
  name: 'mark-place-each',
  text: PLACE_EACH,
  values: [
    wanted.flatMap(({ placed }) => placed),
    wanted.flatMap(({ placed }, index) => placed.map(() => index + 1)),
    ...columnsOf(wanted, COLUMNS),
    ...columnsOf(wanted, ['unlessStream', 'unlessAt']),
  ],
});

const COLUMNS = ['legacy', 'stream', 'at', 'placedBy', 'youngerThan'] as const;

/** Always returns the row that decided, as for idempotency keys. */
const PLACE_ONE = 'select place, stream, at, placed_by from duplicate_marks_place_one($1, $2, $3, $4, $5, $6)';

const PLACE_EACH = `select place, stream, at, placed_by
  from duplicate_marks_place_each($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** Locks rows in order of their fingerprints, as placing marks does, so that the two cannot deadlock. */
const REMOVE = `delete from duplicate_marks where fingerprint in (
    select fingerprint from duplicate_marks where fingerprint = any($1) and stream = $2 and at = $3 order by fingerprint for update
  ) and stream = $2 and at = $3`;
