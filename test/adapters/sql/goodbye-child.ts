import { openPool } from '../../../src/adapters/sql/pool.js';

/** Ends a pool of DATABASE_URL while it is in use; nothing else keeps this process alive meanwhile. */
const pool = openPool({ connectionString: process.env.DATABASE_URL ?? '', max: 1, applicationName: 'goodbye-child' });
const asked = pool.query('select 1');
await pool.end();
await asked;
process.stdout.write('ended\n');
