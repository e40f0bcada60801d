/** The form of every code that the annexes, the captures and the simulator know (docs/national-system.md#error-codes); too short for a document. */
const CODE = /^[A-Z]{1,4}[0-9]{1,5}$/;

/** Whether a text has the form of the authorizer's codes. Only such a text is stored and shown as a code, because any other may hold anything. */
export const isAuthorizerCode = (text: string): boolean => CODE.test(text);

/** The code that is stored for a text of another form. No catalogue has this code, so the answer is judged as an answer with an unknown code. */
export const OTHER_CODE = 'OTHER';

/** "This DPS already exists": this code outweighs all others in the answer and rules out a proof of absence. */
export const DPS_EXISTS = 'E0014';
