import { readFileSync } from 'node:fs';

/** `state`: one letter, Z for a process that has ended and that its parent has not reaped. `started` counts from the boot of the machine. */
type ProcessStat = { name: string; state: string; parent: number; started: string };

/** What Linux says of a process; undefined for a process that is not there, and on a system without /proc. */
export const readStat = (pid: number): ProcessStat | undefined => {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything; the fields after the name are split by spaces.
  const end = stat.lastIndexOf(')');
  const [state = '', parent = '', ...others] = stat.slice(end + 2).split(' ');
  return { name: stat.slice(stat.indexOf('(') + 1, end), state, parent: Number(parent), started: others[17] ?? '' };
};

/** Undefined for a file that is not there or may not be read. */
export const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
