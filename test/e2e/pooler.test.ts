import { describeWith } from '../support/needs.js';
import { startPgBouncer } from '../support/pgbouncer.js';
import { freshDatabase } from '../support/postgres.js';
import { invoiceLife } from './invoice-life.js';

describeWith('pgbouncer', 'PgBouncer in session mode', () => {
  invoiceLife('an invoice on a database behind PgBouncer', async () => {
    const database = await freshDatabase();
    const pooler = await startPgBouncer(database.connectionString, 'session', 'default_pool_size = 90');
    const close = async (): Promise<void> => {
      await pooler.close();
      await database.close();
    };
    return { env: { DATABASE_URL: pooler.connectionString }, close };
  });
});
