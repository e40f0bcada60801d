import { type FileHandle, open } from 'node:fs/promises';

export type Span = { offset: number; length: number };

/** An append-only file of lines whose writers wait together for one `fdatasync`. */
export type AppendFile = {
  /** Queues the line (without its newline) and says at once where it will stand. */
  append(line: string): Span;
  /** Resolves when every line appended so far is on the disk; rejects for ever after a failed write. */
  durable(): Promise<void>;
  /** The line at a span that is durable. */
  read(span: Span): Promise<string>;
  close(): Promise<void>;
};

const NEWLINE = 0x0a;

/**
 * Opens or makes the file and hands each complete line to `onLine`. A last line without a newline was never
 * acknowledged: it is cut off.
 */
export const openAppendFile = async (path: string, onLine: (line: Buffer, span: Span) => void): Promise<AppendFile> => {
  const handle = await open(path, 'a+', 0o600);
  let end = await recover(handle, onLine);
  let waiting: Buffer[] = [];
  let writing: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  /** After a failed write it is unknown which lines reached the disk, so the chain stays rejected: nothing is acknowledged any more. */
  const durable = (): Promise<void> => {
    if (waiting.length > 0 && queued === undefined) {
      queued = writing.then(async () => {
        const batch = Buffer.concat(waiting);
        waiting = [];
        queued = undefined;
        await writeAll(handle, batch);
        await handle.datasync();
      });
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
    // What a process wrote that died before its flush counts from now on.
    await handle.datasync();
    return end;
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const writeAll = async (handle: FileHandle, bytes: Buffer): Promise<void> => {
  let written = 0;
  while (written < bytes.length) {
    written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten;
  }
};

const readLines = async (handle: FileHandle, onLine: (line: Buffer, span: Span) => void): Promise<number> => {
  const chunk = Buffer.alloc(1 << 20);
  let rest: Buffer = Buffer.alloc(0);
  let lineStart = 0;
  let position = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return lineStart;
    position += bytesRead;
    let bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE)) {
      onLine(bytes.subarray(0, at), { offset: lineStart, length: at });
      lineStart += at + 1;
      bytes = bytes.subarray(at + 1);
    }
    rest = bytes;
  }
};
