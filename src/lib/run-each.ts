/** Runs the parts one after another, also after a part that failed. Returns the faults, in the order of the parts. */
export const runEach = async (parts: readonly (() => Promise<unknown>)[]): Promise<readonly unknown[]> => {
  const faults: unknown[] = [];
  for (const part of parts) {
    try {
      await part();
    } catch (error) {
      faults.push(error);
    }
  }
  return faults;
};
