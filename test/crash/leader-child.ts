import { leaderSession } from '../../src/adapters/sql/leader-lock.js';
import { openPool } from '../../src/adapters/sql/pool.js';

/** Takes the lock `frozen` for as long as it keeps its lease of `LEASE_MS`; says when it leads, and ends with 0 when it has lost. */
const main = async ({ DATABASE_URL = '', LEASE_MS }: NodeJS.ProcessEnv): Promise<void> => {
  const pool = openPool({ connectionString: DATABASE_URL, max: 1, applicationName: 'leader-child' });
  const session = leaderSession(pool, LEASE_MS === undefined ? 'none' : Number(LEASE_MS));
  const lost = await session.tryLead('frozen');
  if (lost === undefined) throw new Error('somebody else leads');
  lost.addEventListener('abort', () => process.exit(0));
  // The pipe closes when the parent process has died.
  process.stdin.on('end', () => process.exit(1)).resume();
  process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);
};

await main(process.env);
