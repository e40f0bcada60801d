/** Makes a switch exhaustive: the compiler refuses the call while a case is missing. */
export const unreachable = (value: never): never => {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
};
