import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Instant } from '../../domain/shared/time.js';
import type { DuplicateMark, DuplicateWindow, Fingerprints } from '../../ports/duplicate-window.js';
import { batched } from '../sql/batched.js';

type MarkRow = { place: number; stream: string; at: Instant; placed_by: string };

type Wanted = {
  fingerprints: Fingerprints;
  mark: DuplicateMark;
  placedBy: string;
  youngerThan: Instant | null;
  /** A mark that is ignored. */
  unless?: DuplicateMark;
};

export const duplicateWindow = (db: pg.Pool): DuplicateWindow => {
  const placed = batched<Wanted, MarkRow>(async (wanted) => {
    const isPlain = wanted.every(
      ({ fingerprints, unless }) => fingerprints.placed.length === 1 && unless === undefined,
    );
    const { rows } = await db.query<MarkRow>(isPlain ? placeOne(wanted) : placeEach(wanted));
    return rows.sort((one, other) => one.place - other.place);
  });
  const place = async (wanted: Omit<Wanted, 'placedBy'>): Promise<DuplicateMark | undefined> => {
    const placedBy = randomUUID();
    const row = await placed({ ...wanted, placedBy });
    return row.placed_by === placedBy ? undefined : { stream: row.stream, at: row.at };
  };
  return {
    place: (fingerprints, mark, youngerThan) => place({ fingerprints, mark, youngerThan }),
    takeOver: async (fingerprints, from, to, youngerThan) =>
      (await place({ fingerprints, mark: to, youngerThan, unless: from })) === undefined,
    remove: async ({ placed: under }, stream) => {
      await db.query({ name: 'mark-remove', text: REMOVE, values: [under, stream] });
    },
  };
};

/** The usual case: one fingerprint for each request, and no mark is taken over. */
const placeOne = (wanted: readonly Wanted[]) => ({
  name: 'mark-place',
  text: PLACE_ONE,
  values: [wanted.map(({ fingerprints }) => fingerprints.placed[0]), ...columns(wanted)],
});

const placeEach = (wanted: readonly Wanted[]) => ({
  name: 'mark-place-each',
  text: PLACE_EACH,
  values: [
    wanted.flatMap(({ fingerprints }) => fingerprints.placed),
    wanted.flatMap(({ fingerprints }, index) => fingerprints.placed.map(() => index + 1)),
    ...columns(wanted),
    wanted.map(({ unless }) => unless?.stream ?? null),
    wanted.map(({ unless }) => unless?.at ?? null),
  ],
});

const columns = (wanted: readonly Wanted[]): readonly (readonly (string | null)[])[] => [
  wanted.map(({ fingerprints }) => fingerprints.legacy),
  wanted.map(({ mark }) => mark.stream),
  wanted.map(({ mark }) => mark.at),
  wanted.map(({ placedBy }) => placedBy),
  wanted.map(({ youngerThan }) => youngerThan),
];

/** Always returns the row that decided, as for idempotency keys. */
const PLACE_ONE = 'select place, stream, at, placed_by from duplicate_marks_place_one($1, $2, $3, $4, $5, $6)';

const PLACE_EACH = `select place, stream, at, placed_by
  from duplicate_marks_place_each($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** Locks rows in order of their fingerprints, as placing marks does, so that the two cannot deadlock. */
const REMOVE = `delete from duplicate_marks where fingerprint in (
    select fingerprint from duplicate_marks where fingerprint = any($1) and stream = $2 order by fingerprint for update
  ) and stream = $2`;
