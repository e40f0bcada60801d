import { lockDataDir, prepareDataDir } from '../../src/adapters/embedded-postgres/data-dir.js';
import { chooseOsUser } from '../../src/adapters/embedded-postgres/os-user.js';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/start.js';

export type LockedPostgres = Awaited<ReturnType<typeof startLockedPostgres>>;

/** The embedded PostgreSQL of a folder, which is made ready and stays locked while the server runs, as the service does it. */
export const startLockedPostgres = async (options: Parameters<typeof startEmbeddedPostgres>[0]) => {
  await prepareDataDir(options.dataDir, chooseOsUser());
  const lock = await lockDataDir(options.dataDir, { waitMs: 0 });
  try {
    const server = await startEmbeddedPostgres(options);
    const stop = async (): Promise<void> => {
      await server.stop();
      await lock.release();
    };
    return { ...server, stop };
  } catch (error) {
    await lock.release();
    throw error;
  }
};
