import type { Context } from 'hono';
import { sha256Hex } from '../../app/hashes.js';
import { modeOfApiKey } from '../../domain/company/api-key.js';
import type { Scope } from '../../domain/company/events.js';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { epochMs } from '../../domain/shared/time.js';
import { refuse } from '../answer.js';
import type { Call } from '../call.js';
import type { Authenticated, HttpDeps } from '../deps.js';
import type { Handler } from '../endpoint.js';
import type { Bucket, RateLimiter } from './rate-limiter.js';

export type Caller = Pick<Authenticated, 'keyId' | 'companyId' | 'mode' | 'scopes'>;

export type Access = { scope: Scope; bucket: Bucket };

export const READ: Access = { scope: 'nfse:read', bucket: 'read' };
export const WRITE: Access = { scope: 'nfse:write', bucket: 'write' };

/** Links open the documents without a key, so only a caller who may read them is given any. */
export const mayRead = ({ scopes }: Caller): boolean => scopes.includes(READ.scope);

export type KeyGate = {
  /** Credential, company, scope (401, 403): spends nothing, and writes nothing into the call but which key of ours it is. */
  admit(
    authorization: string | undefined,
    access: Access,
    call: Call,
  ): Promise<{ caller: Caller } | { refused: Refusal }>;
  /** From here on mode and rate state stand in the call, whatever the answer. */
  spend(caller: Caller, access: Access, call: Call): Refusal | undefined;
};

export const createKeyGate = (deps: Pick<HttpDeps, 'authenticate' | 'clock'>, limiter: RateLimiter): KeyGate => ({
  /** What is no key by its form is never asked for; the mode that the prefix shows must be the one on record. */
  admit: async (authorization, { scope }, call) => {
    const key = BEARER.exec(authorization ?? '')?.[1] ?? '';
    const shownMode = modeOfApiKey(key);
    const known = shownMode === undefined ? undefined : await deps.authenticate(sha256Hex(key));
    if (known !== undefined) call.keyId = known.keyId;
    if (known === undefined || known.revoked || known.mode !== shownMode) return { refused: { code: 'unauthorized' } };
    if (!known.companyEnabled) return { refused: { code: 'feature_not_enabled' } };
    if (!known.scopes.includes(scope)) return { refused: { code: 'insufficient_scope' } };
    return { caller: known };
  },
  spend: ({ keyId, mode }, { bucket }, call) => {
    call.mode = mode;
    const { state, retryAfterSeconds } = limiter.take(keyId, bucket, epochMs(deps.clock.now()));
    call.rate = state;
    return retryAfterSeconds === undefined ? undefined : { code: 'rate_limit_exceeded', retryAfterSeconds };
  },
});

const BEARER = /^Bearer +([!-~]+)$/i;

export type KeyedHandler = (c: Context, call: Call, caller: Caller) => Response | Promise<Response>;

/** Credential, company, scope, rate, in this order, then the route (reading 18). */
export const withKey =
  (gate: KeyGate, access: Access, handler: KeyedHandler): Handler =>
  async (c, call) => {
    const admitted = await gate.admit(c.req.header('authorization'), access, call);
    if ('refused' in admitted) return refuse(call, admitted.refused);
    const over = gate.spend(admitted.caller, access, call);
    return over === undefined ? handler(c, call, admitted.caller) : refuse(call, over);
  };
