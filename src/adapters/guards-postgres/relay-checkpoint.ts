import type pg from 'pg';
import type { LogPosition } from '../../ports/event-log.js';
import type { RelayCheckpoint } from '../../ports/guards.js';

export const relayCheckpoint = (db: pg.Pool): RelayCheckpoint => ({
  read: async (logIdentity) => {
    const { rows } = await db.query<{ position: string }>(
      'select position from relay_checkpoint where log_identity = $1',
      [logIdentity],
    );
    return rows[0] === undefined ? null : (BigInt(rows[0].position) as LogPosition);
  },
  move: async (logIdentity, position) => {
    await db.query(
      `insert into relay_checkpoint as c (log_identity, position) values ($1, $2)
       on conflict (log_identity) do update set position = greatest(c.position, excluded.position)`,
      [logIdentity, position.toString()],
    );
  },
});
