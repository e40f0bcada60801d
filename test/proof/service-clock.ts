import { existsSync, readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The clock of the machine that the service believes to run on. */
export type ServiceClock = {
  /** For each process of the service. */
  env: Readonly<Record<string, string>>;
  /** Sets the clock wrong by so many seconds, at once, as a time server does that corrects a machine; 0 sets it right. */
  step(offsetSeconds: number): Promise<void>;
};

export const NO_CLOCK_STEPS =
  "clock steps of the service's machine: they are played by libfaketime, which is not installed";

/** Undefined on a machine without libfaketime. `folder` holds the file that the processes read the offset from. */
export const openServiceClock = async (folder: string): Promise<ServiceClock | undefined> => {
  const library = findLibrary();
  if (library === undefined) return undefined;
  const file = join(folder, 'clock');
  const write = async (offsetSeconds: number): Promise<void> => {
    const text = `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}s\n`;
    await writeFile(`${file}.next`, text, { mode: 0o644 });
    await rename(`${file}.next`, file);
  };
  await write(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: String(READ_EVERY_MS / 1_000),
      // Node's timers and leases measure how much time passes, which a step does not change.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    step: async (offsetSeconds) => {
      await write(offsetSeconds);
      await pause(READ_EVERY_MS);
    },
  };
};

const READ_EVERY_MS = 1_000;

const LIBRARY = 'faketime/libfaketimeMT.so.1';

const findLibrary = (): string | undefined => {
  const parents = ['/usr/lib', '/usr/local/lib', '/usr/lib64'].filter((path) => existsSync(path));
  const folders = parents.flatMap((parent) => [
    parent,
    ...readdirSync(parent, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [join(parent, entry.name)] : [],
    ),
  ]);
  return folders.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
};
