import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { grantService, prepareRoles } from '../../src/adapters/sql/roles.js';
import { PATIENT } from './patient.js';

/** As in production, one role owns the tables and another serves; the names are equal on every server of a run. */
export const OWNER = { name: 'nfse_test_owner', password: 'owner' };
export const SERVICE = { name: 'nfse_test_service', password: 'service' };

type Login = typeof OWNER;

/** The same database of the same server, with another user. */
export const as = ({ name, password }: Login, address: string): string => {
  const url = new URL(address);
  url.username = name;
  url.password = password;
  return url.href;
};

const over = async (connectionString: string, work: (pool: ReturnType<typeof openPool>) => Promise<unknown>) => {
  const pool = openPool({ connectionString, max: 1, applicationName: 'test-setup', ...PATIENT });
  await work(pool).finally(() => pool.end());
};

/** `address` is a superuser's; roles of another run or another caller stay as they are. */
export const ensureRoles = (address: string): Promise<void> =>
  over(address, (admin) => prepareRoles(admin, { owner: OWNER, service: SERVICE }));

/** Makes the tables as their owner and gives the service its rights. */
export const migrateAsOwner = (address: string): Promise<void> =>
  over(as(OWNER, address), async (owner) => {
    await migrate(owner, migrations);
    await grantService(owner, SERVICE.name);
  });
