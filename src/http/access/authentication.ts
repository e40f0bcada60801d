import type { Context } from 'hono';
import { sha256Hex } from '../../app/event-store/hashes.js';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import { epochMs } from '../../domain/common/time.js';
import { modeOfApiKey } from '../../domain/company/company.js';
import type { Scope } from '../../domain/company/events.js';
import { refuse } from '../answer.js';
import { type ReadBody, readJsonObject } from '../body/read-json-object.js';
import { type Call, takeBack } from '../call.js';
import type { Authenticated, HttpDeps, RateLimits } from '../deps.js';
import type { Handler } from '../endpoint.js';
import { refusalIn } from '../faults.js';
import type { SlidingLimit } from './sliding-limit.js';

export type Caller = Pick<Authenticated, 'keyId' | 'companyId' | 'mode' | 'scopes'>;

type Bucket = keyof RateLimits;
type Access = { scope: Scope; bucket: Bucket };

export const READ: Access = { scope: 'nfse:read', bucket: 'read' };
export const WRITE: Access = { scope: 'nfse:write', bucket: 'write' };

/** Links open the documents without a key, so only callers with the read scope get links. */
export const mayRead = ({ scopes }: Caller): boolean => scopes.includes(READ.scope);

export type Authentication = {
  /** Checks key, company and scope (401, 403). Spends no quota and adds only the key's id to the call. */
  authenticate(
    authorization: string | undefined,
    access: Access,
    call: Call,
  ): Promise<{ caller: Caller } | { refused: Refusal }>;
  /** Takes a slot of the quota. From here on the call carries mode and rate state, whatever the answer. */
  takeSlot(caller: Caller, access: Access, call: Call): Refusal | undefined;
};

export const createAuthentication = (
  deps: Pick<HttpDeps, 'authenticate' | 'clock'>,
  limits: Readonly<Record<Bucket, SlidingLimit>>,
): Authentication => ({
  /** A text without the form of a key is not looked up. The mode in the key's prefix must be the recorded one. */
  authenticate: async (authorization, { scope }, call) => {
    const key = BEARER.exec(authorization ?? '')?.[1] ?? '';
    const shownMode = modeOfApiKey(key);
    const known = shownMode === undefined ? undefined : await deps.authenticate(sha256Hex(key));
    if (known !== undefined) call.keyId = known.keyId;
    if (known === undefined || known.revoked || known.mode !== shownMode) return { refused: { code: 'unauthorized' } };
    if (!known.companyEnabled) return { refused: { code: 'feature_not_enabled' } };
    if (!known.scopes.includes(scope)) return { refused: withoutScope(scope) };
    return { caller: known };
  },
  takeSlot: ({ keyId, mode }, { bucket }, call) => {
    call.mode = mode;
    const nowMs = epochMs(deps.clock.now());
    const { state, retryAfterSeconds } = limits[bucket].take(keyId, nowMs);
    call.rate = state;
    if (retryAfterSeconds === undefined) call.giveBack = () => limits[bucket].giveBack(keyId, nowMs);
    return retryAfterSeconds === undefined ? undefined : { code: 'rate_limit_exceeded', retryAfterSeconds };
  },
});

const withoutScope = (scope: Scope): Refusal => ({
  code: 'insufficient_scope',
  message: `Esta chave não tem o escopo ${scope}, que a rota exige. Use uma chave com esse escopo.`,
});

const BEARER = /^Bearer +([!-~]+)$/i;

export type KeyedHandler = (c: Context, call: Call, caller: Caller) => Response | Promise<Response>;

/** Runs the route after authentication and rate limit, in the order of HTTP-ORDER. */
export const withKey =
  (authentication: Authentication, access: Access, handler: KeyedHandler): Handler =>
  async (c, call) => {
    const admitted = await authentication.authenticate(c.req.header('authorization'), access, call);
    if ('refused' in admitted) return refuse(call, admitted.refused);
    const over = authentication.takeSlot(admitted.caller, access, call);
    return over === undefined ? handler(c, call, admitted.caller) : refuse(call, over);
  };

export type BodyHandler = (c: Context, call: Call, caller: Caller, readBody: ReadBody) => Promise<Response>;

/**
 * As `withKey`, for a route with a body. A client may take two minutes for its body, so the switch, the key and the company are asked for again after
 * the body: otherwise a revoked key would keep its power for as long as its owner keeps a request open. Such a refusal spends no quota.
 */
export const withKeyAndBody = (
  deps: Pick<HttpDeps, 'apiState'>,
  authentication: Authentication,
  access: Access,
  handler: BodyHandler,
): Handler => {
  const refusalNow = async (c: Context, call: Call): Promise<Refusal | undefined> => {
    const closed = refusalIn(await deps.apiState());
    if (closed !== undefined) return closed;
    const admitted = await authentication.authenticate(c.req.header('authorization'), access, call);
    return 'refused' in admitted ? admitted.refused : undefined;
  };
  return withKey(authentication, access, (c, call, caller) =>
    handler(c, call, caller, async () => {
      const read = await readJsonObject(c);
      const refused = await refusalNow(c, call);
      if (refused === undefined) return read;
      takeBack(call);
      return { refused };
    }),
  );
};
