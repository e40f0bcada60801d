import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type EmbeddedConnection = { port: number; password: string };

export const SUPERUSER = 'nfse';
export const DATABASE = 'nfse';

/** Undefined before the first start. The server need not be running: hold the folder's lock, or try to connect. */
export const readEmbeddedConnection = async (dataDir: string): Promise<string | undefined> => {
  const stored = await readConnection(dataDir);
  return stored === undefined ? undefined : connectionString(stored);
};

export const connectionString = ({ port, password }: EmbeddedConnection, database = DATABASE): string =>
  `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;

export const readConnection = async (dataDir: string): Promise<EmbeddedConnection | undefined> => {
  try {
    return JSON.parse(await readFile(path(dataDir), 'utf8'));
  } catch {
    return undefined;
  }
};

/** Readable by the owner only: it holds the password. Replaced as a whole. */
export const writeConnection = async (dataDir: string, connection: EmbeddedConnection): Promise<void> => {
  const draft = `${path(dataDir)}.draft`;
  await writeFile(draft, JSON.stringify(connection), { mode: 0o600 });
  await rename(draft, path(dataDir));
};

export const newPassword = (): string => randomBytes(24).toString('hex');

const path = (dataDir: string): string => join(dataDir, 'postgres-connection.json');
