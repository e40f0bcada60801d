import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { errorCode } from '../../lib/error-code.js';
import { writeWhole } from '../../lib/files.js';
import { isDenied, otherOwner } from '../../lib/other-owner.js';
import { DEMANDS_PROOF } from '../sql/proven-client.js';
import { clusterFolder, ownerOf } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';

/**
 * `port` is 0 before the first start, and while the server is being started: any user of this machine may listen on the port of the last run.
 * `password` is the superuser's. A folder of an older version, which had no other user, lacks the other passwords until its next start.
 */
export type EmbeddedConnection = { port: number; password: string; ownerPassword?: string; servicePassword?: string };

/** Name of the file in the data folder. */
export const CONNECTION_FILE = 'postgres-connection.json';

export const SUPERUSER = 'nfse';
export const OWNER = 'nfse_owner';
export const SERVICE = 'nfse_service';
export const DATABASE = 'nfse';

type EmbeddedAddresses = {
  /** For the service and the operator's commands. */
  service: string;
  /** For migrations and restores. */
  owner: string;
};

/**
 * Undefined before the first start; `no_server` while the server is being started; `one_user` while a version runs on the folder that knows only the
 * superuser. The server need not be running: hold the folder's lock, or try to connect. Throws `EmbeddedPostgresError` for the folder of another OS
 * user.
 */
export const readEmbeddedAddresses = async (
  dataDir: string,
): Promise<EmbeddedAddresses | 'no_server' | 'one_user' | undefined> => {
  const stored = await readConnection(dataDir);
  if (stored === undefined) return undefined;
  if (stored.port === 0) return 'no_server';
  return isComplete(stored) ? addressesOf(stored) : 'one_user';
};

export type CompleteConnection = Required<EmbeddedConnection>;

const isComplete = (stored: EmbeddedConnection): stored is CompleteConnection =>
  stored.ownerPassword !== undefined && stored.servicePassword !== undefined;

export const addressesOf = ({ port, ownerPassword, servicePassword }: CompleteConnection): EmbeddedAddresses => ({
  service: address(SERVICE, servicePassword, port, DATABASE),
  owner: address(OWNER, ownerPassword, port, DATABASE),
});

/** The superuser's address, which only the supervisor of the server uses. */
export const superuserAddress = ({ port, password }: EmbeddedConnection, database = DATABASE): string =>
  address(SUPERUSER, password, port, database);

const address = (user: string, password: string, port: number, database: string): string =>
  `postgres://${user}:${password}@127.0.0.1:${port}/${database}?${DEMANDS_PROOF}`;

/** Undefined before the first start. Throws `EmbeddedPostgresError` for the folder of another OS user, and for a damaged file. */
export const readConnection = async (dataDir: string): Promise<EmbeddedConnection | undefined> => {
  const text = await readFile(path(dataDir), 'utf8').catch(async (cause: unknown) => {
    if (isDenied(cause)) {
      const advice =
        (await takenFile(dataDir)) ?? (await otherOwner(path(dataDir), { name: `DATA_DIR ${dataDir}`, path: dataDir }));
      if (advice !== undefined) throw new EmbeddedPostgresError(advice, { cause });
    }
    // A part of the path that is a file is refused where the folder is made.
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(cause) ?? '')) throw cause;
    return undefined;
  });
  return text === undefined ? undefined : parsed(dataDir, text);
};

/** What to do about a file that root wrote again for the database of this user, as versions before did; undefined for another case. */
const takenFile = async (dataDir: string): Promise<string | undefined> => {
  const own = process.geteuid?.();
  const owner = await ownerOf(path(dataDir));
  if (own === undefined || owner === own || (await ownerOf(clusterFolder(dataDir))) !== own) return undefined;
  return `${path(dataDir)} belongs to the OS user ${owner}, and the database beside the file to ${own}: as root, chown ${own} ${path(dataDir)}`;
};

const parsed = (dataDir: string, text: string): EmbeddedConnection => {
  // What the parser says of wrong text is not passed on, because it quotes the text, which holds passwords.
  const { success, output } = v.safeParse(connectionText, text);
  if (success) return output;
  throw new EmbeddedPostgresError(
    `${CONNECTION_FILE} in DATA_DIR ${dataDir} is damaged: restore it from a backup of the folder`,
  );
};

/** Keeps members that it does not know, for `forgetPort`. */
const connectionText = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({
    port: v.number(),
    password: v.string(),
    ownerPassword: v.exactOptional(v.string()),
    servicePassword: v.exactOptional(v.string()),
  }),
);

/** Replaces the file as a whole. Only its owner can read it, because it holds the passwords. */
export const writeConnection = (dataDir: string, connection: EmbeddedConnection): Promise<void> =>
  writeWhole(path(dataDir), JSON.stringify(connection), 0o600);

/** Takes the port out of the file; call it before another server is launched. Does nothing before the first start. */
export const forgetPort = async (dataDir: string): Promise<void> => {
  const stored = await readConnection(dataDir);
  if (stored !== undefined) await writeConnection(dataDir, { ...stored, port: 0 });
};

export const newPassword = (): string => randomBytes(24).toString('hex');

const path = (dataDir: string): string => join(dataDir, CONNECTION_FILE);
