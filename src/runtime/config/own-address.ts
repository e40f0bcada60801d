import { errorCode } from '../../lib/error-code.js';

/** A server cannot listen, because what a variable names is no address of this machine. The message says which variable. */
export class NotOwnAddress extends Error {
  override readonly name = 'NotOwnAddress';
}

/** The rejection of `listening` as `NotOwnAddress`, when it is about `host`, which `variable` names. */
export const atOwnAddress = <T>(variable: string, host: string, listening: Promise<T>): Promise<T> =>
  listening.catch((cause: unknown) => {
    if (!isAboutHost(cause)) throw cause;
    const code = errorCode(cause) ?? 'unknown error';
    throw new NotOwnAddress(`${variable} ${host} is no address of this machine (${code}): choose another one`, {
      cause,
    });
  });

/** False for a port that is in use or that this user may not take. */
const isAboutHost = (cause: unknown): boolean => {
  if (!(cause instanceof Error) || !('syscall' in cause)) return false;
  if (cause.syscall === 'getaddrinfo') return true;
  return cause.syscall === 'listen' && FOREIGN.includes(errorCode(cause) ?? '');
};

/** The second one comes where the machine has no IPv6. */
const FOREIGN: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];
