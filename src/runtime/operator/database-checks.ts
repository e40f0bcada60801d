import type pg from 'pg';
import { expectedSchema } from '../../adapters/sql/database-checks.js';
import type { Check } from '../../cli/session.js';
import { counted } from '../../lib/counted.js';
import { pause } from '../../lib/pause.js';

/** What no session can set and by which a crash of the server or of its machine costs what was acknowledged. */
export const durabilityChecks = async (pool: pg.Pool): Promise<readonly Check[]> => [
  ...(await settingChecks(pool)),
  ...(await unloggedChecks(pool)),
];

const settingChecks = async (pool: pg.Pool): Promise<readonly Check[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name`,
  );
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name);
  const detail = `${names.join(' and ')} off: a crash of its machine may lose accepted invoices or damage the database`;
  const cure = `alter system set ${names.join(' = on; alter system set ')} = on; select pg_reload_conf();`;
  return [{ name: 'database durability', ok: false, detail, cure }];
};

/**
 * The server empties unlogged tables after a crash, and a standby has no rows of them. The rows of a projection are then gone behind their checkpoint,
 * so that open invoices get no verdict by time.
 */
const unloggedChecks = async (pool: pg.Pool): Promise<readonly Check[]> => {
  const { rows } = await pool.query<{ name: string }>(UNLOGGED, [OWN_TABLES]);
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name);
  return [
    {
      name: 'database durability',
      ok: false,
      detail: `unlogged: ${names.join(', ')}; a crash of the server or a failover empties unlogged tables`,
      cure: `as the administrator: ${names.map((name) => `alter table ${name} set logged;`).join(' ')} then nfse audit verify, and nfse projections rebuild where rows are missing`,
    },
  ];
};

const TABLE_LINE = 'table ';

/** Other programs may have tables in the same schema. */
const OWN_TABLES: readonly string[] = expectedSchema.flatMap((line) =>
  line.startsWith(TABLE_LINE) ? [line.slice(TABLE_LINE.length)] : [],
);

const UNLOGGED = `
select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relpersistence = 'u' and c.relkind = 'r' and (
  (n.oid = quote_ident(current_schema())::regnamespace and c.relname = any ($1))
  or (n.nspname ~ '^p_[a-z0-9_]+_v[0-9]+_g[0-9]+$' and c.relname = 'rows'))
order by name`;

/** Milliseconds between two looks. The service gives up a lock within seconds, so a single look may miss a session that waits. */
const LOOK_MS = 500;

/** Runs the checks of doctor, and adds one for each session that kept sessions of the service waiting for a lock meanwhile. */
export const withBlockers = async (
  pool: pg.Pool,
  check: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> => {
  const blockers = new Map<number, Blocker>();
  const over = new AbortController();
  const look = async (): Promise<void> => {
    for (const blocker of await blockersNow(pool)) {
      const before = blockers.get(blocker.pid);
      blockers.set(blocker.pid, { ...blocker, waiting: Math.max(blocker.waiting, before?.waiting ?? 0) });
    }
  };
  const watching = (async () => {
    while (!over.signal.aborted) {
      // The checks themselves say what is wrong with a database that does not answer.
      await look().catch(() => undefined);
      await pause(LOOK_MS, over.signal);
    }
  })();
  const checks = await check().finally(() => {
    over.abort();
    return watching;
  });
  return [...checks, ...Array.from(blockers.values(), blockerCheck)];
};

/** `since`: the begin of its transaction, where the service's user may see that; else since when a session of the service waits. */
type Blocker = {
  pid: number;
  user: string | null;
  application: string | null;
  since: Date | null;
  isOfTransaction: boolean;
  waiting: number;
};

const blockersNow = async (pool: pg.Pool): Promise<readonly Blocker[]> =>
  (
    await pool.query<Blocker>(
      `select blocks.pid, b.usename as user, b.application_name as application,
         coalesce(b.xact_start, min(blocks.since)) as since, b.xact_start is not null as "isOfTransaction",
         count(*)::int as waiting
       from (
         select unnest(pg_blocking_pids(w.pid)) as pid, w.waitstart as since
         from pg_locks w join pg_stat_activity a on a.pid = w.pid
         where not w.granted and a.datname = current_database() and starts_with(a.application_name, $1)
       ) blocks
       left join pg_stat_activity b on b.pid = blocks.pid
       where b.application_name is null or not starts_with(b.application_name, $1)
       group by blocks.pid, b.usename, b.application_name, b.xact_start
       order by blocks.pid`,
      [OWN_NAMES],
    )
  ).rows;

/** Every pool of the product gives its sessions a name that begins so. They wait for each other all the time, and briefly. */
const OWN_NAMES = 'nfse';

const blockerCheck = ({ pid, user, application, since, isOfTransaction, waiting }: Blocker): Check => {
  // The server gives this number for the locks of a prepared transaction.
  const who = pid === 0 ? 'a prepared transaction' : `session ${pid} of ${user ?? 'the server itself'}`;
  const program = application === null || application === '' ? '' : ` (${application})`;
  const when = isOfTransaction ? 'in a transaction since' : 'for which they waited since';
  return {
    name: 'database lock',
    ok: false,
    detail: `${who}${program} holds a lock that ${counted(waiting, 'session')} of the service waited for, ${when} ${since?.toISOString() ?? 'now'}`,
    cure:
      pid === 0
        ? 'see pg_prepared_xacts: commit prepared or rollback prepared'
        : `end its transaction there, or as the administrator: select pg_terminate_backend(${pid})`,
  };
};
