import { hkdfSync, randomBytes } from 'node:crypto';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One generation of the master key, as it is named in every envelope that it sealed (`m1`). */
export type MasterKey = { generation: string; key: Buffer };

/** Thrown when the file is missing, is no key, or may be read by others; the message names the file and what to do. */
export class MasterKeyUnusable extends Error {
  override readonly name = 'MasterKeyUnusable';
}

const KEY_BYTES = 32;

/** 32 bytes, base64, in a file of its owner alone. With `createIfMissing` several processes may start at once: one key wins. */
export const loadMasterKey = async (
  file: string,
  { createIfMissing }: { createIfMissing: boolean },
): Promise<Buffer> => {
  const found = await readKey(file);
  if (found !== undefined) return found;
  if (!createIfMissing) {
    throw new MasterKeyUnusable(
      `the master key file ${file} is missing: put 32 random bytes in base64 there, mode 0600`,
    );
  }
  await createKey(file);
  const created = await readKey(file);
  if (created === undefined) throw new MasterKeyUnusable(`the master key file ${file} vanished while it was made`);
  return created;
};

/** A secret of its own per label (HKDF-SHA256); 32 bytes, the same for ever under the same master key. */
export const deriveSecret = (masterKey: Buffer, label: string): Buffer => deriveKey(masterKey, `secret|${label}`);

/** HKDF-SHA256 without salt; `info` tells one use from every other. */
export const deriveKey = (masterKey: Buffer, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, KEY_BYTES));

/** Tells keys apart without saying anything about them; 16 hex digits. */
export const masterKeyId = (masterKey: Buffer): string => deriveKey(masterKey, 'key id').toString('hex').slice(0, 16);

const readKey = async (file: string): Promise<Buffer | undefined> => {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      throw new MasterKeyUnusable(`the master key file ${file} may be read by others: set its mode to 0600`);
    }
    const text = (await readFile(file, 'utf8')).trim();
    const key = Buffer.from(text, 'base64');
    if (key.length !== KEY_BYTES || key.toString('base64') !== text) {
      throw new MasterKeyUnusable(`the master key file ${file} must hold 32 bytes in base64 and nothing else`);
    }
    return key;
  } catch (error) {
    if (error instanceof MasterKeyUnusable) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    throw new MasterKeyUnusable(`the master key file ${file} cannot be read (${code ?? 'unknown error'})`);
  }
};

/** A key that was used and then lost in a power cut would lose data: it is on the disk before it has its name. */
const createKey = async (file: string): Promise<void> => {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(KEY_BYTES).toString('base64')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike a rename, a link never replaces the key that another process made.
    await link(draft, file).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    await unlink(draft);
    await syncFolder(dirname(file));
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw new MasterKeyUnusable(`the master key file ${file} cannot be made (${codeOf(error) ?? 'unknown error'})`);
  }
};

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
