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
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});
