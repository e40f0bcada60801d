import { readdirSync, readFileSync } from 'node:fs';

/** Processor time in ms: of the thread that runs the event loop, and of all other threads of the process. */
type ProcessorMs = { main: number; others: number };

/**
 * Processor time of a process so far, by its threads. Known on Linux only, which shows it to other processes; zero elsewhere and for a process that
 * has ended.
 */
export const processorOf = (pid: number): ProcessorMs => {
  const spent: ProcessorMs = { main: 0, others: 0 };
  for (const thread of namesIn(`/proc/${pid}/task`)) {
    const ms = Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6;
    spent[thread === String(pid) ? 'main' : 'others'] += ms;
  }
  return spent;
};

/** Processor time in ms of a process and of those that it started and that still run. */
export const familyMs = (pid: number): number =>
  [
    pid,
    ...namesIn('/proc')
      .filter(isNumber)
      .map(Number)
      .filter((other) => parentOf(other) === pid),
  ]
    .map(processorOf)
    .reduce((sum, { main, others }) => sum + main + others, 0);

/** Undefined where the system does not tell. The name of a process may hold spaces and parentheses, so it is skipped. */
export const parentOf = (pid: number): number | undefined => {
  const parent = textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1];
  return parent === undefined ? undefined : Number(parent);
};

const isNumber = (name: string): boolean => /^\d+$/.test(name);

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
