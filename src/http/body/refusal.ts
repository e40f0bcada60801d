import type { Cause, ErrorCode, Refusal } from '../../domain/shared/error-catalogue.js';

/** `message` and `param` are the first cause's; `errors` lists all of them, the first included (spec "Errors"). */
export const bodyRefusal = (code: ErrorCode, causes: readonly Cause[]): Refusal => {
  const [first] = causes;
  return { code, causes, ...(first === undefined ? {} : { message: first.message, param: first.param }) };
};
