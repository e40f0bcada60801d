import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Instant } from '../../domain/shared/time.js';
import type { DuplicateWindow, FingerprintMark } from '../../ports/guards.js';
import { batched } from '../sql/batched.js';

type MarkRow = { place: number; stream: string; at: Instant; placed_by: string };
type Wanted = { fingerprint: string; mark: FingerprintMark; placedBy: string; youngerThan: Instant | null };

export const duplicateWindow = (db: pg.Pool): DuplicateWindow => ({
  place: placing(db),
  takeOver: async (fingerprint, from, to) => {
    const values = [fingerprint, from.stream, from.at, to.stream, to.at, randomUUID()];
    return (await db.query({ name: 'mark-take-over', text: TAKE_OVER, values })).rowCount === 1;
  },
  remove: async (fingerprint, stream) => {
    await db.query({ name: 'mark-remove', text: REMOVE, values: [fingerprint, stream] });
  },
});

/** As with keys, a mark that stands is written back, so that the row which decided is always returned. */
const placing = (db: pg.Pool): DuplicateWindow['place'] => {
  const placed = batched<Wanted, MarkRow>(async (wanted) => {
    const values = [
      wanted.map(({ fingerprint }) => fingerprint),
      wanted.map(({ mark }) => mark.stream),
      wanted.map(({ mark }) => mark.at),
      wanted.map(({ placedBy }) => placedBy),
      wanted.map(({ youngerThan }) => youngerThan),
    ];
    const { rows } = await db.query<MarkRow>({ name: 'mark-place', text: PLACE, values });
    return rows.sort((one, other) => one.place - other.place);
  });
  return async (fingerprint, mark, youngerThan) => {
    const placedBy = randomUUID();
    const row = await placed({ fingerprint, mark, placedBy, youngerThan });
    return row.placed_by === placedBy ? undefined : { stream: row.stream, at: row.at };
  };
};

const PLACE = 'select place, stream, at, placed_by from duplicate_marks_place($1, $2, $3, $4, $5)';

const TAKE_OVER = `update duplicate_marks set stream = $4, at = $5, placed_by = $6
  where fingerprint = $1 and stream = $2 and at = $3`;

const REMOVE = `delete from duplicate_marks where fingerprint = $1 and stream = $2`;
