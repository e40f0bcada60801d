import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Thrown when a backup cannot be made or put back; the message says what to do. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** One table: its rows in the order of its key, a line of JSON each, gzip. */
export type BackupTable = { name: string; file: string; rows: number; sha256: string };

/** Written last: a folder without it is no backup. */
export type BackupManifest = {
  format: 1;
  madeAt: string;
  /** Every step of the schema that the database had; a restore makes the same ones before it loads. */
  schema: readonly { id: number; name: string; checksum: string }[];
  /** `elsewhere`: the log is in an engine of its own and not in this backup. */
  log: { kind: 'database'; identity: string; head: string } | { kind: 'elsewhere' };
  tables: readonly BackupTable[];
  masterKey: 'included' | 'absent';
};

export const MANIFEST_FILE = 'manifest.json';
export const MASTER_KEY_COPY = 'master.key';

/** Throws `BackupRefused` for a folder that holds no whole backup of a format that this program reads. */
export const readManifest = async (folder: string): Promise<BackupManifest> => {
  const text = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch(() => undefined);
  if (text === undefined) throw new BackupRefused(`${folder} holds no finished backup: it has no ${MANIFEST_FILE}`);
  const manifest = parse(text);
  if (manifest?.format !== 1 || !Array.isArray(manifest.tables) || !Array.isArray(manifest.schema))
    throw new BackupRefused(`${MANIFEST_FILE} in ${folder} is not one that this version reads`);
  return manifest as BackupManifest;
};

const parse = (text: string): Partial<BackupManifest> | undefined => {
  try {
    return JSON.parse(text) as Partial<BackupManifest>;
  } catch {
    return undefined;
  }
};

/** Throws `BackupRefused`, naming every file that is missing or is not what was written. */
export const checkFiles = async (folder: string, { tables }: BackupManifest): Promise<void> => {
  const wrong: string[] = [];
  for (const { file, sha256 } of tables) {
    if ((await sha256OfFile(join(folder, file)).catch(() => '')) !== sha256) wrong.push(file);
  }
  if (wrong.length > 0) throw new BackupRefused(`not as they were backed up, or missing: ${wrong.join(', ')}`);
};

export const sha256OfFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
};
