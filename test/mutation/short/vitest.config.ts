import { defineConfig } from 'vitest/config';

/** The tests of the rules that the short run mutates. */
export default defineConfig({
  test: {
    root: new URL('../../..', import.meta.url).pathname,
    include: ['test/domain/{invoice,dps-number}/**/*.test.ts', 'test/app/issuing/uncatalogued-refusal.test.ts'],
    testTimeout: 30_000,
    // The tests leave no state behind, so the files of a run for one mutant load their modules once.
    isolate: false,
  },
});
