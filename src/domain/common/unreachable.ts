/** Makes a switch exhaustive: the code does not compile while a case is missing. */
export const unreachable = (value: never): never => {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
};
