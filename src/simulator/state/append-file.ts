import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '../../lib/files.js';

export type Span = { offset: number; length: number };

/** An append-only file of lines; concurrent writers share one `fdatasync`. */
export type AppendFile = {
  /** Queues the line (without its newline) and returns at once the place that it will have in the file. */
  append(line: string): Span;
  /** Resolves when all lines appended so far are on disk. After a failed write each call tries again and rejects until a write succeeds. */
  durable(): Promise<void>;
  /** The line at a span whose bytes are on disk. */
  read(span: Span): Promise<string>;
  close(): Promise<void>;
};

const NEWLINE = 0x0a;

/** Opens or creates the file and passes each complete line to `onLine`. Cuts off a last line without a newline: it was never acknowledged. */
export const openAppendFile = async (path: string, onLine: (line: Buffer, span: Span) => void): Promise<AppendFile> => {
  const handle = await open(path, 'a+', 0o600);
  let end = await recover(handle, onLine);
  /** Up to here the file is on disk. */
  let flushed = end;
  let isTorn = false;
  let waiting: Buffer[] = [];
  let writing: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  /**
   * After a failed write it is unknown which bytes are on disk. The next write cuts off what came after `flushed` and writes the same lines to the same
   * places, so that every span stays right and no line is acknowledged before it is on disk.
   */
  const write = async (): Promise<void> => {
    const batch = Buffer.concat(waiting);
    waiting = [];
    queued = undefined;
    try {
      if (isTorn) await handle.truncate(flushed);
      isTorn = true;
      await handle.appendFile(batch);
      await handle.datasync();
      isTorn = false;
      flushed += batch.length;
    } catch (error) {
      waiting.unshift(batch);
      throw error;
    }
  };

  const durable = (): Promise<void> => {
    if (waiting.length > 0 && queued === undefined) {
      queued = writing.then(write, write);
      writing = queued;
    }
    return queued ?? writing;
  };

  return {
    append: (line) => {
      const bytes = Buffer.from(`${line}\n`);
      const span = { offset: end, length: bytes.length - 1 };
      end += bytes.length;
      waiting.push(bytes);
      return span;
    },
    durable,
    read: async ({ offset, length }) => {
      const buffer = Buffer.alloc(length);
      await handle.read(buffer, 0, length, offset);
      return buffer.toString('utf8');
    },
    close: async () => {
      await durable().catch(() => undefined);
      await handle.close();
    },
  };
};

const recover = async (handle: FileHandle, onLine: (line: Buffer, span: Span) => void): Promise<number> => {
  try {
    const end = await readLines(handle, onLine);
    await handle.truncate(end);
    // The lines just read may come from a process that died before its flush; they count from now on, so they are flushed here.
    await handle.datasync();
    return end;
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const readLines = async (handle: FileHandle, onLine: (line: Buffer, span: Span) => void): Promise<number> => {
  let rest: Buffer = Buffer.alloc(0);
  let lineStart = 0;
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES })) {
    let bytes = Buffer.concat([rest, chunk]);
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE)) {
      onLine(bytes.subarray(0, at), { offset: lineStart, length: at });
      lineStart += at + 1;
      bytes = bytes.subarray(at + 1);
    }
    rest = bytes;
  }
  return lineStart;
};

const CHUNK_BYTES = 1 << 20;

/** Replaces the bytes before `from` by the line `head`. After a crash at any moment the file is completely the old or completely the new one. */
export const cutFile = async (path: string, from: number, head: string): Promise<void> => {
  const fresh = `${path}.new`;
  await writeFile(fresh, `${head}\n`, { mode: 0o600 });
  await pipeline(createReadStream(path, { start: from }), createWriteStream(fresh, { flags: 'a', flush: true }));
  await rename(fresh, path);
  await syncFolder(dirname(path));
};
