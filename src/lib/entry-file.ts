/** The program of a thread or process beside the module `from` (`import.meta.url`), by its path without extension: in TypeScript or once built. */
export const entryFile = (path: string, from: string): URL =>
  new URL(from.endsWith('.ts') ? `${path}.source.mjs` : `${path}.js`, from);
