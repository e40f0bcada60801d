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
import { readsByKey } from '../sql/batched.js';
import { openDatabase } from '../sql/database.js';
import type { ReadDatabase, ReadSchema } from './schema.js';

/**
 * Reads the views of schema `read`, which point at the live generation of each projection. The reads that requests make most are prepared statements,
 * and those by a key that requests of many companies share are made together.
 */
export const createReadModel = (pool: pg.Pool): ReadModel => {
  const db = openDatabase<ReadSchema>(pool);
  const companies = db.selectFrom('read.companies').select('state').orderBy('company_id');
  const statesOf = readsByKey<{ key: string; state: string }>(pool, COMPANIES);
  return {
    ...credentialReads(pool, db),
    ...timerReads(db),
    ...referenceReads(pool, db),
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
      const [row] = await statesOf(companyId);
      return row && (JSON.parse(row.state) as Company);
    },
    companies: async () => {
      const rows = await companies.execute();
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

const COMPANIES = {
  name: 'companies-by-id',
  text: 'select company_id as key, state from read.companies where company_id = any($1)',
};

type StoredCredential = Omit<Credential, 'scopes'> & { scopes: string };

const COLUMNS = ['key_id as keyId', 'company_id as companyId', 'mode', 'scopes', 'revoked'] as const;

/** Reads of API keys. */
const credentialReads = (pool: pg.Pool, db: ReadDatabase): Pick<ReadModel, 'credential' | 'credentialById'> => {
  const byHash = readsByKey<StoredCredential & { key: string }>(pool, CREDENTIALS);
  return {
    credential: async (keyHash) => toCredential((await byHash(keyHash))[0]),
    credentialById: async (keyId) =>
      toCredential(
        await db.selectFrom('read.credentials').select(COLUMNS).where('key_id', '=', keyId).executeTakeFirst(),
      ),
  };
};

const CREDENTIALS = {
  name: 'credentials-by-hash',
  text: `select key_hash as key, key_id as "keyId", company_id as "companyId", mode, scopes, revoked
    from read.credentials where key_hash = any($1)`,
};

const toCredential = (row: StoredCredential | undefined): Credential | undefined => {
  if (row === undefined) return undefined;
  const { keyId, companyId, mode, scopes, revoked } = row;
  return { keyId, companyId, mode, scopes: JSON.parse(scopes) as Scope[], revoked };
};

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
const referenceReads = (pool: pg.Pool, db: ReadDatabase): ReferenceReads => {
  const linesOf = readsByKey<{ key: string; lines: string }>(pool, CATALOG_LINES);
  const demandsOf = readsByKey<DemandsOfPlace>(pool, MUNICIPALITIES);
  const entriesOf = readsByKey<{ key: string; entry: string }>(pool, REGISTRY);
  return {
    catalogLines: async (cnaes) => {
      const rows = cnaes === 'all' ? await allLines(db) : (await Promise.all(cnaes.map(linesOf))).flat();
      return new Map(rows.map(({ key, lines }) => [key, JSON.parse(lines) as OperatorLine[]]));
    },
    municipalityDemands: async (ibge) => {
      const [row] = await demandsOf(ibge);
      if (row === undefined) return undefined;
      const { requires_customer: requiresCustomer, requires_registration: requiresRegistration } = row;
      return {
        ...(requiresCustomer === null ? {} : { requiresCustomer }),
        ...(requiresRegistration === null ? {} : { requiresRegistration }),
      };
    },
    registryEntry: async (cnpj) => {
      const [row] = await entriesOf(cnpj);
      return row && (JSON.parse(row.entry) as LocalEntry);
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
  };
};

type DemandsOfPlace = { key: string; requires_customer: boolean | null; requires_registration: boolean | null };

const allLines = (db: ReadDatabase) =>
  db.selectFrom('read.catalog_lines').select(['cnae as key', 'lines']).orderBy('cnae').execute();

const CATALOG_LINES = {
  name: 'catalog-lines-by-cnae',
  text: 'select cnae as key, lines from read.catalog_lines where cnae = any($1)',
};

const MUNICIPALITIES = {
  name: 'municipalities-by-ibge',
  text: `select ibge as key, requires_customer, requires_registration from read.municipalities where ibge = any($1)`,
};

const REGISTRY = {
  name: 'registry-by-cnpj',
  text: 'select cnpj as key, entry from read.registry where cnpj = any($1)',
};
