import type { Authorizer, Caller, LookupResult, SendResult } from '../../ports/authorizer.js';

export type AuthorizerOperation =
  | 'send_dps'
  | 'send_cancellation'
  | 'find_by_dps'
  | 'find_by_access_key'
  | 'find_cancellation';

export type AuthorizerResult = SendResult<unknown> | LookupResult<unknown>;

/** Makes the call, does its own work before and after, and returns the result unchanged. */
type Around = <Result extends AuthorizerResult>(
  operation: AuthorizerOperation,
  caller: Caller,
  call: () => Promise<Result>,
) => Promise<Result>;

/** The same authorizer, with `around` at each call. */
export const aroundAuthorizer = (authorizer: Authorizer, around: Around): Authorizer => ({
  sendDps: (caller, ...asked) => around('send_dps', caller, () => authorizer.sendDps(caller, ...asked)),
  sendCancellation: (caller, ...asked) =>
    around('send_cancellation', caller, () => authorizer.sendCancellation(caller, ...asked)),
  findByDps: (caller, ...asked) => around('find_by_dps', caller, () => authorizer.findByDps(caller, ...asked)),
  findByAccessKey: (caller, ...asked) =>
    around('find_by_access_key', caller, () => authorizer.findByAccessKey(caller, ...asked)),
  findCancellation: (caller, ...asked) =>
    around('find_cancellation', caller, () => authorizer.findCancellation(caller, ...asked)),
});
