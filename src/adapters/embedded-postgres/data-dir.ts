import { mkdir, rm } from 'node:fs/promises';
import { EmbeddedPostgresError } from './error.js';
import { type OsUser, unreachableFolder } from './os-user.js';

/**
 * Makes the data folder if it is missing; throws `EmbeddedPostgresError`. Others may walk through it (PostgreSQL may
 * have to run as another user) but not look into it; what is secret in it has its own mode.
 */
export const makeDataDir = async (dataDir: string): Promise<{ undo(): Promise<void> }> => {
  try {
    const made = await mkdir(dataDir, { recursive: true, mode: 0o711 });
    return { undo: async () => (made === undefined ? undefined : rm(made, { recursive: true, force: true })) };
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot be created (${code}): choose another DATA_DIR`, {
      cause,
    });
  }
};

/** Throws `EmbeddedPostgresError` when the server's user could not get to the data folder. */
export const prepareDataDir = async (dataDir: string, user: OsUser | undefined): Promise<void> => {
  const { undo } = await makeDataDir(dataDir);
  if (user === undefined || unreachableFolder(user, dataDir) === undefined) return;
  await undo();
  throw new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be reached by OS user ${user.name}: choose another DATA_DIR or run as a normal user`,
  );
};
