/** The form of every code that the annexes, the captures and the simulator know (docs/national-system.md#error-codes); too short for a document. */
const CODE = /^[A-Z]{1,4}[0-9]{1,5}$/;

/** Whether a text has the form of the authorizer's codes. Only such a text is stored and shown as a code, because any other may hold anything. */
export const isAuthorizerCode = (text: string): boolean => CODE.test(text);

/** The code that is stored for a text of another form. No catalogue has this code, so the answer is judged as an answer with an unknown code. */
export const OTHER_CODE = 'OTHER';

/** "The note already has an event": after this code one absence may suffice to refuse a cancellation (ADR 8). */
export const EVENT_EXISTS = 'E0840';

/** Codes that say that the document exists already; only a look-up shows what exists (docs/national-system.md#error-codes). */
export const existsCodes = { dps: ['E0014'], event: [EVENT_EXISTS, 'E0802', 'E1805'] } as const;

const dpsCodes: readonly string[] = existsCodes.dps;

/** Whether an answer with these codes said that the DPS exists: that outweighs all other codes in the answer and rules out a proof of absence. */
export const saysDpsExists = (codes: readonly string[]): boolean => codes.some((code) => dpsCodes.includes(code));
