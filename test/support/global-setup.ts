export const setup = (): void => {};
