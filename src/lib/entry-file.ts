/**
 * The program of a thread or process beside the module `from`, by its path without extension. The service runs from TypeScript in development and from
 * compiled JavaScript once built. `from` is `import.meta.url`.
 */
export const entryFile = (path: string, from: string): URL =>
  new URL(from.endsWith('.ts') ? `${path}.source.mjs` : `${path}.js`, from);
