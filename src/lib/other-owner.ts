import { readFile, stat } from 'node:fs/promises';
import { errorCode } from './error-code.js';

/** Whether an operation on a file failed for want of rights. */
export const isDenied = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(errorCode(error) ?? '');

/**
 * What an operator can do when this process may not use `file`: names the OS user who owns the file, or the lowest folder above the file that this
 * process can see. The text begins with `name`, which names `path`: the file or a folder above. Undefined where no other OS user is the owner.
 */
export const otherOwner = async (
  file: string,
  { name, path = file, advice = runAs }: { name: string; path?: string; advice?: (user: string) => string },
): Promise<string | undefined> => {
  const own = process.geteuid?.();
  const seen = await lowestSeen(file);
  if (own === undefined || seen === undefined || seen.uid === own) return undefined;
  const user = await userNamed(seen.uid);
  const whose = seen.at.length >= path.length ? 'belongs' : `lies in ${seen.at}, which belongs`;
  return `${name} ${whose} to user ${user ?? seen.uid}: ${advice(user ?? `'#${seen.uid}'`)}`;
};

const runAs = (user: string): string => `run the command as that user (for example sudo -u ${user} ...)`;

/** A file below a folder that this process may not enter has no owner that this process can see. */
const lowestSeen = async (path: string): Promise<{ at: string; uid: number } | undefined> => {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined) return { at: path, uid: found.uid };
  // Only operating systems whose separator is / have ids of users.
  const slash = path.lastIndexOf('/');
  if (slash < 0 || path === '/') return undefined;
  return await lowestSeen(path.slice(0, Math.max(slash, 1)));
};

/** Undefined for an id without a line in `/etc/passwd`, which is usual in containers and on macOS. */
const userNamed = async (uid: number): Promise<string | undefined> => {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const line = users.split('\n').find((entry) => entry.split(':')[2] === String(uid));
  return line?.split(':')[0];
};
