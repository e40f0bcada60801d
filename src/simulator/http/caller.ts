import type { TLSSocket } from 'node:tls';
import { holderOf } from '../holder.js';

/** The client of a connection, by its certificate (rules E1200 to E1209). */
export type Caller =
  | { kind: 'none' }
  | { kind: 'refused'; code: 'E1203' | 'E1205' | 'E1209' }
  | { kind: 'known'; cnpj: string };

const callers = new WeakMap<TLSSocket, Caller>();

/** Reads the certificate once per connection, because a connection keeps its certificate. */
export const callerOf = (socket: TLSSocket): Caller => {
  const known = callers.get(socket);
  if (known !== undefined) return known;
  const caller = readCaller(socket);
  callers.set(socket, caller);
  return caller;
};

const readCaller = (socket: TLSSocket): Caller => {
  const raw = socket.getPeerCertificate().raw;
  if (raw === undefined) return { kind: 'none' };
  if (!socket.authorized) {
    const isExpired = String(socket.authorizationError).includes('EXPIRED');
    return { kind: 'refused', code: isExpired ? 'E1203' : 'E1205' };
  }
  const { cnpj } = holderOf(raw);
  return cnpj === undefined ? { kind: 'refused', code: 'E1209' } : { kind: 'known', cnpj };
};
