import { defineConfig } from 'vitest/config';

/** The bounds are for what never comes: a busy machine may take many times as long as an idle one. */
const shared = {
  root: new URL('..', import.meta.url).pathname,
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
};

/** Leave nothing behind in their process: these share one for each worker and load their modules once. */
const together = [
  'test/{app,domain,http,projections,simulator,workers}/**/*.test.ts',
  // It mocks a module of Node that the others have loaded.
  'test/cli/!(actor).test.ts',
];

/** The crash tests start several processes each and would starve the others: they come last, the campaign alone. */
export default defineConfig({
  test: {
    ...shared,
    // Here and nowhere else: each project that named it too would have a server and a compiler of its own, all at once.
    globalSetup: ['test/support/global-setup.ts'],
    // One more than the cores it has: many files wait for an engine or a deadline most of the time.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...shared,
          name: 'product',
          include: ['test/**/*.test.ts'],
          exclude: ['test/crash/**', ...together],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'together',
          isolate: false,
          include: together,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          exclude: ['test/crash/campaign.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: { ...shared, name: 'campaign', include: ['test/crash/campaign.test.ts'], sequence: { groupOrder: 2 } },
      },
    ],
  },
});
