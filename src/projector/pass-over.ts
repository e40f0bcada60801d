import type pg from 'pg';
import { inTransaction } from '../adapters/sql/transaction.js';
import { pause } from '../lib/pause.js';
import type { Clock } from '../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../ports/event-log.js';
import { type Generation, moveCheckpoint } from './checkpoints.js';

type PassOver = {
  log: Pick<EventLog, 'head' | 'identity' | 'readAll' | 'remembered'>;
  db: pg.Pool;
  clock: Clock;
  /** The checkpoint as the projector knows it. */
  position(): LogPosition | null;
  onMoved(position: LogPosition): void;
  onFault(error: unknown): void;
  signal: AbortSignal;
  /** Default: 10 s. */
  everyMs?: number | undefined;
};

const EVERY_MS = 10_000;

/**
 * Moves the checkpoint of a projection over events of other streams. The checkpoint of a projection with few events, such as that of the
 * companies, would otherwise stay far behind, and each start would look through the log from there. Resolves when the signal aborts.
 */
export const passOverOthers = async (generation: Generation, passOver: PassOver): Promise<void> => {
  const { onFault, signal, everyMs = EVERY_MS } = passOver;
  while (!signal.aborted) {
    await pause(everyMs, signal);
    if (signal.aborted) return;
    await toHead(generation, passOver).catch((error: unknown) => {
      if (!signal.aborted) onFault(error);
    });
  }
};

const toHead = async (
  generation: Generation,
  { log, db, clock, position, onMoved, signal }: PassOver,
): Promise<void> => {
  const from = position();
  // The head is read first: an empty answer then proves that no event of the projection lies up to it.
  const head = await log.head();
  if (head === null || !isEarlier(from, head)) return;
  const [next] = await log.readAll({ prefixes: generation.prefixes, after: from, limit: 1 });
  if (signal.aborted || position() !== from || (next !== undefined && !isEarlier(head, next.position))) return;
  // A position of another log, or of another end of this one, would make the right log look older than the rows.
  const logIdentity = await log.identity();
  if (((await log.remembered?.look()) ?? 'held') !== 'held' || signal.aborted || position() !== from) return;
  // A crash that loses this commit loses nothing: the stretch is looked through once more.
  const move = (client: pg.PoolClient): Promise<boolean> =>
    moveCheckpoint(client, generation, { from, to: head, logIdentity }, clock.now());
  const moved = await inTransaction(db, move, 'set local synchronous_commit = off');
  if (moved) onMoved(head);
};
