import { sql } from 'kysely';
import type pg from 'pg';
import type { DeadlineRow } from '../../../projections/deadlines.js';
import type { InvoiceRow } from '../../../projections/invoices.js';
import type { OperatorLine } from '../../domain/catalog/events.js';
import type { Company } from '../../domain/company/company.js';
import type { Scope } from '../../domain/company/events.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { LocalEntry } from '../../domain/registry/events.js';
import { createShortTurns } from '../../lib/short-turns.js';
import type { Credential, OpenWorkFilter, ReadModel, Timer, TimerCursor } from '../../ports/read-model.js';
import { openDatabase } from '../sql/database.js';
import type { ReadDatabase, ReadSchema } from './schema.js';

/** Reads the views of schema `read`, which point at the live generation of each projection. The most frequent read is a prepared statement. */
export const createReadModel = (pool: pg.Pool): ReadModel => {
  const db = openDatabase<ReadSchema>(pool);
  const companies = db.selectFrom('read.companies').select('state');
  return {
    ...credentialReads(pool, db),
    ...timerReads(db),
    ...referenceReads(db),
    invoice: async (stream) => {
      const { rows } = await pool.query<Pick<InvoiceRow, 'state' | 'revision'>>({
        name: 'invoice-by-stream',
        text: 'select state, revision from read.invoices where stream = $1',
        values: [stream],
      });
      const row = rows[0];
      return row === undefined ? undefined : { state: JSON.parse(row.state) as InvoiceState, revision: row.revision };
    },
    company: async (companyId) => {
      const row = await companies.where('company_id', '=', companyId).executeTakeFirst();
      return row && (JSON.parse(row.state) as Company);
    },
    companies: async () => {
      const rows = await companies.orderBy('company_id').execute();
      const found: Company[] = [];
      const shortTurn = createShortTurns();
      for (const { state } of rows) {
        await shortTurn();
        found.push(JSON.parse(state) as Company);
      }
      return found;
    },
    apiSwitchedOff: async () => {
      const row = await db.selectFrom('read.system').select('switched_off').where('key', '=', 'api').executeTakeFirst();
      return row?.switched_off ?? false;
    },
  };
};

type StoredCredential = Omit<Credential, 'scopes'> & { scopes: string };

const COLUMNS = ['key_id as keyId', 'company_id as companyId', 'mode', 'scopes', 'revoked'] as const;

/** Reads of API keys. The read by hash runs for every request, so it is a prepared statement. */
const credentialReads = (pool: pg.Pool, db: ReadDatabase): Pick<ReadModel, 'credential' | 'credentialById'> => ({
  credential: async (keyHash) => {
    const { rows } = await pool.query<StoredCredential>({
      name: 'credential-by-hash',
      text: BY_HASH,
      values: [keyHash],
    });
    return toCredential(rows[0]);
  },
  credentialById: async (keyId) =>
    toCredential(
      await db.selectFrom('read.credentials').select(COLUMNS).where('key_id', '=', keyId).executeTakeFirst(),
    ),
});

const BY_HASH = `select key_id as "keyId", company_id as "companyId", mode, scopes, revoked
  from read.credentials where key_hash = $1`;

const toCredential = (row: StoredCredential | undefined): Credential | undefined =>
  row && { ...row, scopes: JSON.parse(row.scopes) as Scope[] };

/** Sorts before every instant. */
const NEVER = '';

/** Reads of timers. Instants are compared as text: they have one fixed format, and the columns sort by bytes. */
const timerReads = (db: ReadDatabase): Pick<ReadModel, 'openWork' | 'verdictsDue' | 'expiredTestInvoices'> => ({
  openWork: async ({ quietSince, windows }, limit, after) => {
    const open = work(db).select(dueMs(windows).as('due_ms')).where('work_since', 'is not', null);
    const quiet =
      quietSince === null
        ? open
        : open.where((row) =>
            row.or([
              row.and([row('started', '=', false), row('work_since', '<=', quietSince.queued)]),
              row.and([row('started', '=', true), row('work_since', '<=', quietSince.started)]),
            ]),
          );
    const due = db.selectFrom(quiet.as('open')).selectAll();
    const following =
      after === undefined
        ? due
        : due.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('due_ms', 'stream'), '>', tuple(after.dueMs, after.stream)),
          );
    const rows = await following.orderBy('due_ms').orderBy('stream').limit(limit).execute();
    return rows.flatMap(({ due_ms, ...row }) => toTimer(row).map((open) => ({ ...open, dueMs: Number(due_ms) })));
  },
  verdictsDue: async ({ queued = NEVER, started = NEVER, cancel = NEVER }, limit, after) => {
    // Selects open work by the index: most rows are test invoices that wait for their retention.
    const open = work(db).where('work_since', 'is not', null);
    const due = open.where((row) =>
      row.or([
        row.and([row('work', '=', 'issue'), row('started', '=', false), row('began_at', '<=', queued)]),
        row.and([row('work', '=', 'issue'), row('started', '=', true), row('began_at', '<=', started)]),
        row.and([row('work', '=', 'cancel'), row('began_at', '<=', cancel)]),
      ]),
    );
    return (await pageByWorkSince(due, limit, after).execute()).flatMap(toTimer);
  },
  expiredTestInvoices: async (createdBefore, limit) => {
    const rows = await db
      .selectFrom('read.deadlines')
      .select('stream')
      .where('retention_since', '<=', createdBefore)
      .orderBy('retention_since')
      .orderBy('stream')
      .limit(limit)
      .execute();
    return rows.map(({ stream }) => stream);
  },
});

/** Epoch milliseconds at which a verdict ends the work: `began_at` plus the window of a cancellation, a queued or a started invoice. */
const dueMs = ({ queuedSeconds, processingSeconds, cancellationSeconds }: OpenWorkFilter['windows']) =>
  sql<number>`(extract(epoch from began_at::timestamptz) * 1000)::bigint + 1000 * case
    when work = 'cancel' then ${cancellationSeconds}::bigint
    when started then ${processingSeconds}::bigint
    else ${queuedSeconds}::bigint end`;

const work = (db: ReadDatabase) =>
  db.selectFrom('read.deadlines').select(['stream', 'mode', 'company_id', 'work', 'work_since', 'started']);

/** Rows without progress do not hide the rows after them, because the caller continues after the last row of the page. */
const pageByWorkSince = (rows: ReturnType<typeof work>, limit: number, after: TimerCursor | undefined) => {
  const following =
    after === undefined
      ? rows
      : rows.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('work_since', 'stream'), '>', tuple(after.since, after.stream)),
        );
  return following.orderBy('work_since').orderBy('stream').limit(limit);
};

type WorkRow = Omit<DeadlineRow, 'revision' | 'began_at' | 'retention_since'>;

const toTimer = ({ stream, mode, company_id, work: kind, work_since: since, started }: WorkRow): readonly Timer[] =>
  kind === null || since === null ? [] : [{ stream, mode, companyId: company_id, kind, since, started }];

type ReferenceReads = Pick<ReadModel, 'catalogLines' | 'municipalityDemands' | 'registryEntry' | 'byAccessKeys'>;

/** What operators entered, and which invoices hold an access key already. */
const referenceReads = (db: ReadDatabase): ReferenceReads => ({
  catalogLines: async (cnaes) => {
    const all = db.selectFrom('read.catalog_lines').select(['cnae', 'lines']).orderBy('cnae');
    if (cnaes !== 'all' && cnaes.length === 0) return new Map();
    const rows = await (cnaes === 'all' ? all : all.where('cnae', 'in', [...cnaes])).execute();
    return new Map(rows.map(({ cnae, lines }) => [cnae, JSON.parse(lines) as OperatorLine[]]));
  },
  municipalityDemands: async (ibge) => {
    const row = await db
      .selectFrom('read.municipalities')
      .select(['requires_customer', 'requires_registration'])
      .where('ibge', '=', ibge)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { requires_customer: requiresCustomer, requires_registration: requiresRegistration } = row;
    return {
      ...(requiresCustomer === null ? {} : { requiresCustomer }),
      ...(requiresRegistration === null ? {} : { requiresRegistration }),
    };
  },
  registryEntry: async (cnpj) => {
    const row = await db.selectFrom('read.registry').select('entry').where('cnpj', '=', cnpj).executeTakeFirst();
    return row === undefined ? undefined : (JSON.parse(row.entry) as LocalEntry);
  },
  byAccessKeys: async (accessKeys) => {
    if (accessKeys.length === 0) return [];
    const rows = await db
      .selectFrom('read.invoices')
      .select(['access_key', 'stream'])
      .where('access_key', 'in', [...accessKeys])
      .execute();
    return rows.flatMap(({ access_key: accessKey, stream }) => (accessKey === null ? [] : [{ accessKey, stream }]));
  },
});
