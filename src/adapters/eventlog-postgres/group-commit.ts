import type pg from 'pg';
import { deliverBatch, type Waiting } from '../../lib/batches.js';
import { errorCode } from '../../lib/error-code.js';
import { AppendOutcomeUnknown, type AppendResult, EventLogUnavailable, IssuingPaused } from '../../ports/event-log.js';
import { isRolledBack, sqlFault } from '../sql/errors.js';
import type { AppendedMark, EndWatch } from './lost-end.js';
import { type PreparedAppend, statementOf } from './prepared-append.js';

/** Writes appends in one round trip and returns their results in order. Gives up, and drops its connection, when the signal aborts. */
export type SendAppends = (appends: readonly PreparedAppend[], signal: AbortSignal) => Promise<readonly AppendResult[]>;

/** One commit carries at most this many appends and about this many bytes. */
const MAX_APPENDS = 64;
const MAX_BYTES = 1024 * 1024;

type Pending = {
  append: PreparedAppend;
  /** Gives up the write that carries this append; undefined before. */
  write: AbortController | undefined;
  expired: boolean;
};

type WaitingAppend = Waiting<Pending, AppendResult>;

/**
 * While one batch is being written the next one gathers, so that waiting appends share the cost of a durable commit and of the append lock (ADR 1).
 * `deadlineMs` counts from the call of `append`.
 */
export const groupCommit = (send: SendAppends, deadlineMs: number) => {
  const queue: WaitingAppend[] = [];
  let pumping: Promise<void> | undefined;
  let closed = false;

  const expire = (waiting: WaitingAppend): void => {
    waiting.item.expired = true;
    const place = queue.indexOf(waiting);
    if (place >= 0) {
      queue.splice(place, 1);
      waiting.reject(notTakenInTime());
    }
    // One transaction carries the batch, and only the end of its connection ends the transaction. Appends behind the batch would wait longer.
    waiting.item.write?.abort();
  };

  /** Throws `EventLogUnavailable` (not stored), `AppendOutcomeUnknown`, or the error by which the server refused the append. */
  const append = async (prepared: PreparedAppend): Promise<AppendResult> => {
    if (closed) throw new EventLogUnavailable('the event log is closed');
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<AppendResult>((resolve, reject) => {
      const waiting = { item: { append: prepared, write: undefined, expired: false }, resolve, reject };
      timer = setTimeout(() => expire(waiting), deadlineMs);
      queue.push(waiting);
      pumping ??= pump();
    });
    return await answer.finally(() => clearTimeout(timer));
  };

  const pump = async (): Promise<void> => {
    do {
      // Lets callers whose answers have just arrived, and all callers of this turn of the event loop, join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = takeBatch(queue);
      if (batch.length > 0) await deliverBatch(batch, (items) => write(items, send), mayBeOfOneAppend);
    } while (queue.length > 0);
    // In the same turn as the last check of the queue, so that a later append starts the pump again.
    pumping = undefined;
  };

  return {
    append,
    /** Refuses new appends and resolves when those under way have their answer. */
    close: async (): Promise<void> => {
      closed = true;
      await pumping;
    },
  };
};

const notTakenInTime = (): EventLogUnavailable =>
  new EventLogUnavailable('the event log did not take the append in time');

const takeBatch = (queue: WaitingAppend[]): WaitingAppend[] => {
  let bytes = 0;
  let count = 0;
  for (const { item } of queue) {
    bytes += item.append.bytes;
    if (count === MAX_APPENDS || (count > 0 && bytes > MAX_BYTES)) break;
    count += 1;
  }
  return queue.splice(0, count);
};

/** Each append of a refused batch is written again alone, unless its deadline has passed meanwhile. */
const write = async (items: readonly Pending[], send: SendAppends): Promise<readonly AppendResult[]> => {
  if (items.every(({ expired }) => expired)) throw notTakenInTime();
  const controller = new AbortController();
  for (const item of items) item.write = controller;
  const results = await send(
    items.map(({ append }) => append),
    controller.signal,
  );
  // An append without an answer may be stored, so the batch must not be written again.
  if (results.length !== items.length) throw new AppendOutcomeUnknown('the event log gave no answer to the append');
  return results;
};

/** Any other failure is a refusal, which may be the fault of one append of the batch. A pause concerns the acceptances of the batch alone. */
const mayBeOfOneAppend = (error: unknown): boolean =>
  error instanceof IssuingPaused || !(error instanceof EventLogUnavailable || error instanceof AppendOutcomeUnknown);

/** Appends by one call of a function, which runs as one transaction. Refuses when the log has lost events that this process knows. */
export const sendAppends = (pool: pg.Pool, end: EndWatch): SendAppends => {
  /** Connections to a server that holds what this process knew when they began. */
  const checked = new WeakSet<pg.PoolClient>();
  return async (appends, signal) => {
    const statement = statementOf(appends);
    const client = await pool.connect().catch((cause: unknown) => {
      throw new EventLogUnavailable('the event log cannot be reached', { cause });
    });
    let held = true;
    const release = (destroy: boolean): void => {
      if (held) client.release(destroy);
      held = false;
    };
    const giveUp = (): void => release(true);
    if (signal.aborted) {
      release(false);
      throw notTakenInTime();
    }
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      if (!checked.has(client) && (await isChecked(client, end))) checked.add(client);
      if (end.isKnownLost()) throw new EventLogUnavailable('the event log has lost its end: no pause is recorded yet');
      if (signal.aborted) throw notTakenInTime();
      const remember = end.beginAppend();
      const { rows } = await client.query<Answer>(statement);
      release(false);
      const answers = results(appends, rows[0]);
      const last = lastStored(appends, answers);
      if (last !== undefined) remember(last);
      return answers;
    } catch (error) {
      release(true);
      throw meaningOf(error);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  };
};

const isChecked = (client: pg.PoolClient, end: EndWatch): Promise<boolean> =>
  end.check(client).catch((cause: unknown) => {
    throw new EventLogUnavailable('the event log could not be compared with what this process knows', { cause });
  });

/** The last event of the batch in the log. A refused append stored nothing. */
const lastStored = (appends: readonly PreparedAppend[], answers: readonly AppendResult[]): AppendedMark | undefined => {
  const index = answers.findLastIndex(({ ok }) => ok);
  const [append, answer] = [appends[index], answers[index]];
  const last = append?.events.at(-1);
  if (append === undefined || last === undefined || answer?.ok !== true) return undefined;
  return { stream: append.stream, revision: answer.revision, id: last.id };
};

type Answer = { accepted: boolean[]; revisions: (number | null)[] };

const results = (appends: readonly PreparedAppend[], answer: Answer | undefined): AppendResult[] =>
  appends.map((_append, index) => {
    const revision = answer?.revisions[index] ?? null;
    if (answer?.accepted[index] !== true) return { ok: false, actual: revision };
    if (revision === null) throw new AppendOutcomeUnknown('the event log accepted without a revision');
    return { ok: true, revision };
  });

/** Only an ERROR of the server proves that nothing was stored. */
const meaningOf = (cause: unknown): unknown => {
  if (cause instanceof EventLogUnavailable || cause instanceof AppendOutcomeUnknown) return cause;
  if (errorCode(cause) === ISSUING_PAUSED) return new IssuingPaused();
  if (!isRolledBack(cause)) return new AppendOutcomeUnknown('the event log was lost during an append', { cause });
  return sqlFault(cause) === 'other' ? cause : new EventLogUnavailable('the event log refused the append', { cause });
};

/** The SQLSTATE with which `event_log_append` refuses an acceptance during a pause. */
const ISSUING_PAUSED = 'NFP01';
