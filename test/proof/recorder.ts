import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createGzip, type Gzip } from 'node:zlib';
import { type Exchange, type Mishap, RAW_FILES } from './judge/raw.js';

/** What is written down while the run lasts. */
export type Recorder = {
  exchange(exchange: Exchange): void;
  mishap(mishap: Mishap): void;
  fault(order: object): void;
  trouble(detail: string): void;
  serviceLog(text: string): void;
  /** Resolves when every exchange so far is in its file. */
  flushed(): Promise<void>;
  /** Resolves when everything is in the files. */
  close(): Promise<void>;
};

export const openRecorder = (folder: string): Recorder => {
  const files = new Map<string, WriteStream>();
  const fileOf = (name: string): WriteStream => {
    const known = files.get(name) ?? createWriteStream(join(folder, name));
    files.set(name, known);
    return known;
  };
  const line = (name: string, value: unknown): void => void fileOf(name).write(`${JSON.stringify(value)}\n`);
  for (const name of [RAW_FILES.http, RAW_FILES.mishaps, RAW_FILES.faults, RAW_FILES.troubles]) fileOf(name);
  const log: Gzip = createGzip();
  log.pipe(fileOf(RAW_FILES.serviceLog));
  return {
    exchange: (exchange) => line(RAW_FILES.http, exchange),
    mishap: (mishap) => line(RAW_FILES.mishaps, mishap),
    fault: (order) => line(RAW_FILES.faults, order),
    trouble: (detail) => line(RAW_FILES.troubles, detail),
    serviceLog: (text) => void log.write(text),
    flushed: () => new Promise((resolve) => fileOf(RAW_FILES.http).write('', () => resolve())),
    close: async () => {
      const ofLog = fileOf(RAW_FILES.serviceLog);
      const others = [...files.values()].filter((file) => file !== ofLog);
      const finished = [...files.values()].map(
        (file) => new Promise((resolve) => file.once('finish', () => resolve(undefined))),
      );
      log.end();
      for (const file of others) file.end();
      await Promise.all(finished);
    },
  };
};
