import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { profileFaults } from '../../certificates/profile.js';
import { holderOf } from '../holder.js';

/** The client of a connection, by its certificate (rules E1200 to E1209). */
export type Caller =
  | { kind: 'none' }
  | { kind: 'refused'; code: 'E1200' | 'E1203' | 'E1205' | 'E1209' }
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
  const faults = profileFaults(new X509Certificate(raw).toString());
  if (faults.includes('authority') || faults.includes('no_client')) return refused('E1200');
  if (!socket.authorized) return refused(CODES[String(socket.authorizationError)] ?? 'E1205');
  const { cnpj } = holderOf(raw);
  return cnpj === undefined || faults.includes('cnpj_in_name') ? refused('E1209') : { kind: 'known', cnpj };
};

type RefusedCode = Extract<Caller, { kind: 'refused' }>['code'];

/** Codes for what OpenSSL says; all else is a fault of the chain. */
const CODES: Readonly<Record<string, RefusedCode>> = {
  CERT_HAS_EXPIRED: 'E1203',
  CERT_NOT_YET_VALID: 'E1203',
  INVALID_PURPOSE: 'E1200',
};

const refused = (code: RefusedCode): Caller => ({ kind: 'refused', code });
