/** A promise that the test fulfils: `opened` resolves when `open` is called. */
export const gate = () => {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};
