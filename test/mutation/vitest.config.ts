import { defineConfig } from 'vitest/config';

/** Only the tests that need no engine: what kills a mutant of the domain or of a schema is a fast, pure test. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'test/domain/**/*.test.ts',
      'test/golden/**/*.test.ts',
      'test/app/**/*.test.ts',
      'test/workers/{issuer,sweeper,retention}.test.ts',
      'test/http/{body,get-*,post-*}/**/*.test.ts',
    ],
    // Needs PostgreSQL, and a suite that fails ends the run before its first mutant.
    exclude: ['test/app/retention/kept-rows.test.ts'],
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});
