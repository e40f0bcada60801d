import { type Code, MESSAGES } from './messages.js';

/** One error of an answer. */
export type Refusal = { code: string; message: string; complement?: string };

/** A refusal with the message of its code. `complement` is the only useful part of a schema fault (E1235). */
export const refusal = (code: Code, complement?: string): Refusal => ({
  code,
  message: MESSAGES[code],
  ...(complement !== undefined && { complement }),
});

export const isKnownCode = (code: string): code is Code => Object.hasOwn(MESSAGES, code);
