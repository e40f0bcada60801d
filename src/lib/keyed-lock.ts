/** Runs tasks of the same key one after another, in the order of their calls; tasks of other keys are not held up. */
export const createKeyedLock = () => {
  const tails = new Map<string, Promise<unknown>>();
  return <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const run = (tails.get(key) ?? Promise.resolve()).then(task);
    const forget = (): void => {
      if (tails.get(key) === tail) tails.delete(key);
    };
    const tail: Promise<void> = run.then(forget, forget);
    tails.set(key, tail);
    return run;
  };
};
