import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants, createReadStream, createWriteStream, type Stats } from 'node:fs';
import { access, type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { UnreadableFile } from '../app/audit/verify-export.js';
import { errorCode } from '../lib/error-code.js';
import { settlesWithin } from '../lib/pause.js';
import { Interrupted } from './progress.js';

/** The name alone decides about compression. */
const isGzip = (file: string): boolean => file.endsWith('.gz');

export const manifestOf = (file: string): string => `${file}.manifest.json`;

/**
 * A whole file under another name, with the SHA-256 and the number of its bytes: `put` replaces the file with it, `discard` removes what was not put.
 * `isThere` is false once a later export into the same file has removed the draft.
 */
export type ExportDraft = {
  sha256: string;
  bytes: number;
  isThere(): Promise<boolean>;
  put(): Promise<void>;
  discard(): Promise<void>;
};

/**
 * Writes the chunks, gzipped if the name says so, into a new file, because an existing one may have another mode or be a link. Pipes and devices are
 * written as they are, at once, and none of another user. Rejects with `Interrupted` once `signal` has aborted.
 */
export const draftExport = async (
  file: string,
  chunks: AsyncIterable<string>,
  signal?: AbortSignal,
): Promise<ExportDraft> => {
  if (signal?.aborted) throw new Interrupted();
  const hash = createHash('sha256');
  let bytes = 0;
  const measure = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const source = Readable.from(chunks, { objectMode: false });
  const writeTo = async (target: NodeJS.WritableStream): Promise<void> => {
    const options = signal === undefined ? {} : { signal };
    if (isGzip(file)) await pipeline(source, createGzip(), measure, target, options);
    else await pipeline(source, measure, target, options);
  };
  const special = await openUnlessInterrupted(file, signal);
  if (special !== undefined) {
    await writeTo(special.createWriteStream());
    const nothing = async (): Promise<void> => undefined;
    return { sha256: hash.digest('hex'), bytes, isThere: async () => true, put: nothing, discard: nothing };
  }
  const draft = `${file}.${randomUUID()}.draft`;
  const discard = (): Promise<void> => rm(draft, { force: true });
  try {
    const target = createWriteStream(draft, { mode: OWNER_ONLY, flags: 'wx', flush: true });
    await unlessInterrupted(writeTo(target), signal);
  } catch (error) {
    await discard();
    throw error;
  }
  const isThere = async (): Promise<boolean> => (await statOf(draft)) !== undefined;
  return { sha256: hash.digest('hex'), bytes, isThere, put: () => rename(draft, file), discard };
};

/** Does not wait for the streams to end: a source that waits for the log would delay that. */
const unlessInterrupted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return await work;
  const over = new AbortController();
  // A signal that has already aborted has no event any more.
  const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort', { signal: over.signal });
  const interrupted = aborted.then((): never => {
    throw new Interrupted();
  });
  try {
    const result = await Promise.race([work, interrupted]);
    if (signal.aborted) throw new Interrupted();
    return result;
  } catch (error) {
    throw signal.aborted ? new Interrupted() : error;
  } finally {
    over.abort();
  }
};

/**
 * Removes the drafts of this file and its manifest that earlier exports have left, perhaps with personal data in clear. Nothing says whether their
 * writer lives: the process ids of another container mean nothing here. So of two exports into one file the first one fails. An export calls this
 * before its first draft only: a later call would make both fail.
 */
export const removeEarlierDrafts = async (file: string): Promise<void> => {
  const folder = dirname(file);
  const names = [basename(file), basename(manifestOf(file))];
  const isDraft = (other: string): boolean =>
    names.some((name) => other.startsWith(name) && DRAFT.test(other.slice(name.length)));
  // A folder that may be written to and not listed still takes an export.
  for (const other of await readdir(folder).catch((): string[] => []))
    if (isDraft(other)) await rm(join(folder, other), { force: true });
};

/** What a draft has after the name of its file. */
const DRAFT = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.draft$/;

/** Undefined for a file that is not there, or that this process may not see. */
const statOf = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);

/** Opens a pipe or a device; undefined for anything else. Never makes a file. Opening a pipe waits for its reader. */
const openSpecial = async (file: string): Promise<FileHandle | undefined> => {
  if ((await statOf(file))?.isFile() !== false) return undefined;
  const handle = await open(file, constants.O_WRONLY);
  // Another one may have taken the place of what was there a moment ago.
  const found = await handle.stat();
  if (!found.isFile() && !(await isForeign(found, handle.fd))) return handle;
  await handle.close();
  if (found.isFile()) return undefined;
  throw new Error(`${file} ${FOREIGN}`);
};

/** An open that waits for the reader of a pipe keeps this process from its end, so the open is ended before the interruption is reported. */
const openUnlessInterrupted = async (
  file: string,
  signal: AbortSignal | undefined,
): Promise<FileHandle | undefined> => {
  const opening = openSpecial(file);
  try {
    return await unlessInterrupted(opening, signal);
  } catch (error) {
    if (error instanceof Interrupted) await endOpen(file, opening);
    throw error;
  }
};

/** The reading end of a pipe opens without a wait, and lets an open of the writing end come back. */
const endOpen = async (file: string, opening: Promise<FileHandle | undefined>): Promise<void> => {
  const closed = opening.then(
    (handle) => handle?.close(),
    () => undefined,
  );
  if ((await statOf(file))?.isFIFO() !== true) return;
  const reader = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  // Another pipe may have the name by now.
  if (reader !== undefined) await settlesWithin(OPEN_ENDS_WITHIN_MS, closed);
  await reader?.close();
};

const OPEN_ENDS_WITHIN_MS = 1_000;

const FOREIGN = 'cannot be written: it is a pipe or a device of another user, who could read all that is written';

/**
 * Another user may have made a pipe under the name before. An open descriptor that this process was given, such as the pipe behind /dev/stdout, is
 * for the export, also one of another user, as under sudo. `own` is the descriptor that this process opened itself.
 */
const isForeign = async ({ uid, dev, ino }: Stats, own?: number): Promise<boolean> => {
  const user = process.geteuid?.();
  if (user === undefined || uid === user || uid === 0) return false;
  for (const name of await readdir(DESCRIPTORS).catch((): string[] => [])) {
    const given = name === String(own) ? undefined : await statOf(join(DESCRIPTORS, name));
    if (given?.dev === dev && given.ino === ino) return false;
  }
  return true;
};

/** A name for each open descriptor of this process, on Linux and macOS. */
const DESCRIPTORS = '/dev/fd';

type ReadExport = {
  lines(): AsyncGenerator<readonly string[], void, void>;
  fileHash(): Promise<{ sha256: string; bytes: number }>;
  /** Share of the file that was read, between 0 and 1. */
  share(): number;
};

/** Opens an export for reading line by line. `lines` throws `UnreadableFile`. */
export const readExport = async (file: string): Promise<ReadExport> => {
  const { size } = await stat(file);
  let read = 0;
  return {
    share: () => (size === 0 ? 1 : read / size),
    lines: async function* () {
      const source = createReadStream(file, { highWaterMark: CHUNK_BYTES });
      source.on('data', (chunk) => {
        read += chunk.length;
      });
      const plain = isGzip(file) ? source.pipe(createGunzip()) : source;
      source.on('error', (error) => plain.destroy(error));
      try {
        yield* linesOf(plain.setEncoding('utf8'));
      } catch (error) {
        if (error instanceof UnreadableFile) throw error;
        throw new UnreadableFile(`the file cannot be read (${errorCode(error) ?? 'unknown'})`, { cause: error });
      } finally {
        source.destroy();
        plain.destroy();
      }
    },
    fileHash: async () => {
      const hash = createHash('sha256');
      await pipeline(createReadStream(file), hash);
      return { sha256: hash.digest('hex'), bytes: size };
    },
  };
};

/** Only the owner may read the file, because an export may hold personal data in clear. */
const OWNER_ONLY = 0o600;

/** Whether a file of this name holds anything. An empty one, as `mktemp` makes it, does not; neither does a pipe or a device. */
export const holdsSomething = async (file: string): Promise<boolean> => {
  const found = await statOf(file);
  return found?.isFile() === true && found.size > 0;
};

/** Why an export cannot be written, in one line; undefined where it can: into a folder that exists, or into a pipe or device. */
export const whyNotWritable = async (file: string): Promise<string | undefined> => {
  const found = await statOf(file);
  if (found?.isDirectory() === true) return `${file} cannot be written: ${resolve(file)} is a folder`;
  const isSpecial = found?.isFile() === false;
  if (isSpecial && (await isForeign(found))) return `${file} ${FOREIGN}`;
  const place = resolve(isSpecial ? file : dirname(file));
  return await access(place, constants.W_OK).then(
    () => undefined,
    (error: unknown) => {
      const code = errorCode(error);
      const why = code === 'ENOENT' ? `there is no folder ${place}` : `${code ?? 'unknown fault'} at ${place}`;
      return `${file} cannot be written: ${why}`;
    },
  );
};

const CHUNK_BYTES = 256 * 1024;

/** Far more than the line of the largest event; a small gzip file may unpack to a line without end. */
const LONGEST_LINE = 4 * 1024 * 1024;

async function* linesOf(source: AsyncIterable<string>): AsyncGenerator<readonly string[], void, void> {
  let begun: string[] = [];
  let length = 0;
  for await (const chunk of source) {
    const [first = '', ...others] = chunk.split('\n');
    begun.push(first);
    length += first.length;
    if (length > LONGEST_LINE) throw new UnreadableFile('the file holds a line that is longer than any event');
    const rest = others.pop();
    if (rest === undefined) continue;
    yield [begun.join(''), ...others];
    begun = [rest];
    length = rest.length;
  }
  if (length > 0) yield [begun.join('')];
}
