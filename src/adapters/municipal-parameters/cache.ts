import type pg from 'pg';
import type { Mode } from '../../domain/common/ids.js';
import { addSeconds, type Instant } from '../../domain/common/time.js';
import {
  type CachedParameters,
  CONVENIO,
  type KnownParameters,
  questionKeyOf,
} from '../../domain/municipality/parameters.js';
import type { ParametersCache, ParametersEntry } from '../../ports/municipal-parameters.js';
import { readsByKey } from '../sql/batched.js';

type Row = Omit<ParametersEntry, 'known' | 'knownAt' | 'reason'> & {
  known: KnownParameters | null;
  knownAt: Instant | null;
  reason: string | null;
};

/** The answers of the parameters API in the database, one row per question. Needs the migration `municipal-parameters`. */
export const createParametersCache = (db: pg.Pool): ParametersCache => ({
  of: answersOf(db),
  entriesOf: entriesOf(db),
  all: () => inPages(db),
  convenios: async () => {
    const { rows } = await db.query<Row>(`${ENTRIES} where place = $1 order by ibge, mode`, [questionKeyOf(CONVENIO)]);
    return rows.map(entryOf);
  },
  keep: async (mode, ibge, { questionKey, known, knownAt }) => {
    await db.query(KEEP, [mode, ibge, questionKey, JSON.stringify(known), knownAt]);
  },
  noteFailure: async (mode, ibge, questionKey, reason, at) => {
    await db.query(NOTE_FAILURE, [mode, ibge, questionKey, at, reason]);
  },
  noteNeed: async (mode, ibge, questionKey, at) => {
    await db.query(NOTE_NEED, [mode, ibge, questionKey, at]);
  },
  askAgain: async (mode, ibge, service, at) => {
    const places = `aliquota/${service.slice(0, NATIONAL_PART)}.`;
    await db.query(ASK_AGAIN, [mode, ibge, places, at, addSeconds(at, -YOUNG_SECONDS)]);
  },
  keepOnly: async (mode, ibges) => {
    await db.query('delete from municipal_parameters where mode = $1 and not ibge = any($2)', [mode, ibges]);
  },
});

/** The municipalities of one turn of the event loop are read together, those of each mode apart. */
const answersOf = (db: pg.Pool): ParametersCache['of'] => {
  const answers = (mode: Mode) =>
    readsByKey<CachedParameters & { key: string }>(db, {
      name: `parameters-of-${mode}`,
      text: `select ibge as key, place as "questionKey", told::json as known, told_at as "knownAt" from municipal_parameters
        where ibge = any($1) and mode = '${mode}' and told is not null`,
    });
  const of = { live: answers('live'), test: answers('test') };
  return async (mode, ibge) =>
    (await of[mode](ibge)).map(({ questionKey, known, knownAt }) => ({ questionKey, known, knownAt }));
};

const entriesOf = (db: pg.Pool): ParametersCache['entriesOf'] => {
  const rowsOf = readsByKey<Row & { key: string }>(db, {
    name: 'parameters-entries',
    text: `select ibge as key, ${COLUMNS} from municipal_parameters where ibge = any($1) order by mode, place`,
  });
  return async (ibge) => (await rowsOf(ibge)).map(({ key: _ibge, ...row }) => entryOf(row));
};

const COLUMNS = `mode, ibge, place as "questionKey", told::json as known, told_at as "knownAt", asked_at as "askedAt", failures, reason`;

const ENTRIES = `select ${COLUMNS} from municipal_parameters`;

/** More rows in one answer would take longer than a turn of the event loop may. */
const PAGE = 250;

/** By pages along the primary key. A row that is written meanwhile is read or not. */
const inPages = async function* (db: pg.Pool): AsyncGenerator<readonly ParametersEntry[]> {
  let group: ParametersEntry[] = [];
  let after: readonly string[] = ['', '', ''];
  for (;;) {
    const { rows } = await db.query<Row>(
      `${ENTRIES} where (ibge, mode, place) > ($1, $2, $3) order by ibge, mode, place limit ${PAGE}`,
      [...after],
    );
    for (const entry of rows.map(entryOf)) {
      const [first] = group;
      if (first !== undefined && (first.ibge !== entry.ibge || first.mode !== entry.mode)) {
        yield group;
        group = [];
      }
      group.push(entry);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) break;
    after = [last.ibge, last.mode, last.questionKey];
  }
  if (group.length > 0) yield group;
};

const KEEP = `insert into municipal_parameters (mode, ibge, place, told, told_at, asked_at) values ($1, $2, $3, $4, $5, $5)
  on conflict (ibge, mode, place) do update set told = excluded.told, told_at = excluded.told_at,
    asked_at = excluded.asked_at, failures = 0, reason = null`;

const NOTE_FAILURE = `insert into municipal_parameters as p (mode, ibge, place, asked_at, failures, reason)
  values ($1, $2, $3, $4, 1, $5)
  on conflict (ibge, mode, place) do update set asked_at = excluded.asked_at, failures = p.failures + 1,
    reason = excluded.reason`;

const NOTE_NEED = `insert into municipal_parameters (mode, ibge, place, asked_at) values ($1, $2, $3, $4)
  on conflict (ibge, mode, place) do nothing`;

/** Digits and dots of `01.07.01`. */
const NATIONAL_PART = 8;

const YOUNG_SECONDS = 3_600;

const ASK_AGAIN = `update municipal_parameters set asked_at = $4
  where mode = $1 and ibge = $2 and starts_with(place, $3) and failures = 0 and told_at <= $5 and asked_at = told_at`;

const entryOf = ({ known, knownAt, reason, ...row }: Row): ParametersEntry => ({
  ...row,
  ...(known === null || knownAt === null ? {} : { known, knownAt }),
  ...(reason === null ? {} : { reason }),
});
