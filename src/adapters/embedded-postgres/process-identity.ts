import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Names one process for ever: its id alone is reused. The start time counts from the boot, so the boot is part of it.
 * Undefined when no such process lives. Only processes of this machine (or container) can be seen.
 */
export const processIdentity = (pid: number): string | undefined => {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat !== undefined) {
    // The second field is the program's name in parentheses and may hold anything; the 22nd is the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${fields[19] ?? ''}`;
  }
  if (process.platform === 'linux') return undefined;
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
};

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
