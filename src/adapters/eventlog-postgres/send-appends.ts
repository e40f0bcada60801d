import type pg from 'pg';
import { AppendOutcomeUnknown, type AppendResult, EventLogUnavailable } from '../../ports/event-log.js';
import { isRolledBack, sqlFault } from '../sql/errors.js';
import type { SendAppends } from './group-commit.js';
import type { PreparedAppend } from './prepared-append.js';

/** Appends by one call of `event_log_append`, which is its own transaction. */
export const sendAppends =
  (pool: pg.Pool): SendAppends =>
  async (appends, onSent, signal) => {
    const client = await connect(pool);
    let held = true;
    const release = (destroy: boolean): void => {
      if (held) client.release(destroy);
      held = false;
    };
    const giveUp = (): void => release(true);
    if (signal.aborted) {
      release(false);
      throw new EventLogUnavailable('the event log did not take the append in time');
    }
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      onSent();
      const { rows } = await client.query<Answer>({ name: 'append', text: APPEND, values: parameters(appends) });
      release(false);
      return results(appends, rows[0]);
    } catch (error) {
      release(true);
      throw meaningOf(error);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  };

type Answer = { accepted: boolean[]; revisions: (number | null)[] };

const APPEND = 'select accepted, revisions from event_log_append($1, $2, $3, $4, $5, $6, $7, $8, $9)';

const connect = async (pool: pg.Pool): Promise<pg.PoolClient> => {
  try {
    return await pool.connect();
  } catch (cause) {
    throw new EventLogUnavailable('the event log cannot be reached', { cause });
  }
};

const parameters = (appends: readonly PreparedAppend[]): unknown[] => {
  const events = appends.flatMap(({ stream, expected, events: own }) =>
    own.map((event, index) => ({ ...event, stream, revision: expected + 1 + index })),
  );
  return [
    appends.map(({ stream }) => stream),
    appends.map(({ expected }) => expected),
    appends.map((append) => append.events.length),
    events.map(({ stream }) => stream),
    events.map(({ revision }) => revision),
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ record }) => record),
    events.map(({ hash }) => hash),
  ];
};

const results = (appends: readonly PreparedAppend[], answer: Answer | undefined): AppendResult[] =>
  appends.map((_append, index) => {
    const revision = answer?.revisions[index] ?? null;
    if (answer?.accepted[index] !== true) return { ok: false, actual: revision };
    if (revision === null) throw new AppendOutcomeUnknown('the event log accepted without a revision');
    return { ok: true, revision };
  });

/** Only an ERROR of the server proves that nothing was stored. */
const meaningOf = (cause: unknown): unknown => {
  if (!isRolledBack(cause)) return new AppendOutcomeUnknown('the event log was lost during an append', { cause });
  return sqlFault(cause) === 'other' ? cause : new EventLogUnavailable('the event log refused the append', { cause });
};
