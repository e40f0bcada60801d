import type { TLSSocket } from 'node:tls';
import { holderOf } from '../holder.js';

/** Who opened the connection, by its client certificate (rules E1200 to E1209). */
export type Caller =
  | { kind: 'none' }
  | { kind: 'refused'; code: 'E1203' | 'E1205' | 'E1209' }
  | { kind: 'known'; cnpj: string };

const callers = new WeakMap<TLSSocket, Caller>();

/** A connection has one certificate for life: it is read once. */
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
