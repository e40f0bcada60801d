import type { Context } from 'hono';
import type { IssueCommand } from '../../app/accept/accept-deps.js';
import { bodyHashOf, sha256Hex } from '../../app/event-store/hashes.js';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import type { BodyHandler } from '../access/authentication.js';
import { refuse } from '../answer.js';
import { issueRequestOf } from '../body/issue-request.js';
import type { ReadBody } from '../body/read-json-object.js';
import type { HttpDeps } from '../deps.js';
import { incomingOf } from '../in-hand.js';
import { accepted } from '../invoice-body.js';
import { hasSecond } from '../raw-answer.js';

/** POST /v1/nfse (POST-responses): 202, also for a replay, or 400, 409, 413, 415, 422. */
export const issueRoute =
  (deps: HttpDeps): BodyHandler =>
  async (c, call, caller, readBody) => {
    const command = await commandOf(c, deps, readBody);
    if ('refused' in command) return refuse(call, command.refused);
    const { keyId, companyId, mode } = caller;
    const result = await deps.accept(command, { mode, companyId, keyId, requestId: call.requestId });
    return 'refused' in result ? refuse(call, result.refused) : accepted(call, result.accepted, caller, deps);
  };

const commandOf = async (
  c: Context,
  deps: HttpDeps,
  readBody: ReadBody,
): Promise<IssueCommand | { refused: Refusal }> => {
  const key = c.req.header('idempotency-key');
  if (key !== undefined && (!IDEMPOTENCY_KEY.test(key) || hasTwoKeys(c))) return { refused: badIdempotencyKey };
  const read = await readBody();
  if ('refused' in read) return read;
  const checked = issueRequestOf(read.body, deps.clock.now());
  if ('refused' in checked || key === undefined) return checked;
  return { ...checked, idempotency: { keyHash: sha256Hex(key), plainBodyHash: bodyHashOf(read.body) } };
};

/** Two headers are read as one value, which is another valid key when the second is empty. */
const hasTwoKeys = (c: Context): boolean => hasSecond('idempotency-key', incomingOf(c)?.rawHeaders ?? []);

/** Visible ASCII characters (POST-Idempotency-Key). */
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

const badIdempotencyKey: Refusal = {
  code: 'invalid_request',
  message: 'O cabeçalho Idempotency-Key deve vir uma só vez, com 1 a 255 caracteres ASCII visíveis, sem espaços.',
  param: 'Idempotency-Key',
};
