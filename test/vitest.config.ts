import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createStallReporter } from './support/stalls.js';

/** One test of the full models may say nothing for an hour. */
const isFull = process.env.MODEL_FULL === '1' || process.env.CRASH_FULL === '1';
const stalls = isFull ? createStallReporter(90 * 60_000) : createStallReporter();

/** The command line replaces the reporters of this file; this one is always there. */
const withStalls: Plugin = {
  name: 'stalls',
  configureVitest: ({ vitest }) => {
    if (!vitest.config.reporters.includes(stalls)) vitest.config.reporters.push(stalls);
  },
};

/** Long bounds, because a busy machine may take many times as long as an idle one. */
const shared = {
  root: new URL('..', import.meta.url).pathname,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 20 } },
  setupFiles: ['test/support/keys-of-run.ts'],
};

/**
 * What takes minutes, or needs an engine beyond the embedded PostgreSQL, and files of eight seconds or more that start processes, threads or
 * databases: only `npm run test:all` runs them. `npm test` runs everything else, with Node alone.
 */
const slow = [
  'test/{e2e,model}/**/*.test.ts',
  'test/adapters/{embedded-postgres,eventlog-eventstoredb,queue-nats}/**/*.test.ts',
  'test/adapters/authorizer/{connection,renegotiation}.test.ts',
  'test/adapters/eventlog-postgres/faults.test.ts',
  'test/adapters/pdf/{danfse-images,danfse-overlap,determinism,renderer}.test.ts',
  'test/adapters/sql/{migrate,oldest-version,passwords,sessions}.test.ts',
  'test/app/accept/ibs-cbs-matrix.test.ts',
  'test/app/issuing/maintenance.test.ts',
  'test/app/reconciliation/**/*.test.ts',
  'test/cli/audit-stored.test.ts',
  'test/client/runtimes.test.ts',
  'test/console/{browser,pictures,service,widths}.test.ts',
  'test/documents/{example-accidents,examples,samples}.test.ts',
  'test/http/access/flood.test.ts',
  'test/http/docs/{browser,kept}.test.ts',
  'test/http/fuzz/fuzz.test.ts',
  'test/http/openapi/{clients,code-samples}.test.ts',
  'test/http/server/{slow,unread-body}.test.ts',
  'test/launch/nfse.test.ts',
  'test/lib/thread-pool.test.ts',
  'test/projector/{rebuild,rebuild-kill,serving}.test.ts',
  'test/proof/{run,settle}.test.ts',
  'test/runtime/commands/{compose-setup,demo,drain-start,empty-folder,interrupted-start,interruption,master-key-add,npm-stop,output,setup-database,setup-foreign-database,unseen-key}.test.ts',
  'test/runtime/config/supported-node.test.ts',
  'test/runtime/engines/{database,simulator-process,trust}.test.ts',
  'test/runtime/operations/{compose-health,confined,operations,proxy}.test.ts',
  'test/runtime/operator/restore-killed.test.ts',
  'test/runtime/roles/drain-*.test.ts',
  'test/simulate/life.test.ts',
  'test/support/stalls.test.ts',
  'test/supply-chain/audit.test.ts',
];

/** Quick tests that need a separate process: they mock a module, change the process, or measure its event loop. */
const alone = [
  'test/adapters/authorizer/event-loop.test.ts',
  'test/app/issuing/layout-switch.test.ts',
  'test/cli/actor.test.ts',
  'test/lib/other-owner.test.ts',
  'test/runtime/commands/until-signal.test.ts',
  'test/runtime/engines/reading-threads.test.ts',
  'test/runtime/service.test.ts',
  'test/xml/received-work.test.ts',
];

/** Files of minutes. They begin first, or a run would end with one of them alone. */
const LONGEST = [
  'test/proof/run.test.ts',
  'test/e2e/fault-matrix.test.ts',
  'test/e2e/older-folder.test.ts',
  'test/crash/never-twice.test.ts',
];

const isLongest = ({ moduleId }: TestSpecification): boolean => LONGEST.some((path) => moduleId.endsWith(path));

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

type ProjectOptions = {
  groupOrder: number;
  maxWorkers: number;
  isolate: boolean;
  include: readonly string[];
  exclude?: readonly string[];
};

/** Without `isolate` the files leave no state in their process, so they share one process per worker and load their modules once. */
const project = (name: string, options: ProjectOptions) => {
  const { groupOrder, maxWorkers, isolate, include, exclude = [] } = options;
  return {
    plugins: [withStalls],
    test: {
      ...shared,
      name,
      isolate,
      maxWorkers,
      include: [...include],
      exclude: [...exclude],
      sequence: { groupOrder },
    },
  };
};

/** Quick tests compute most of their time, and each process loads the modules again. */
const QUICK = { groupOrder: 0, maxWorkers: 3 };
/** These wait for an engine or a deadline most of their time. */
const SLOW = { groupOrder: 1, maxWorkers: 5 };
/** Crash tests start several processes each and would starve the others: they come last, the campaign alone. */
const CRASH = { groupOrder: 2, maxWorkers: 4 };

/** The numbers of workers are for two cores. */
export default defineConfig({
  test: {
    ...shared,
    // Only here: each project that names this file too would start another server and another compiler at the same time.
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    onUnhandledError: (error) => !stalls.forgives(error),
    projects: [
      project('quick-alone', { ...QUICK, isolate: true, include: alone }),
      project('quick', {
        ...QUICK,
        isolate: false,
        include: ['test/**/*.test.ts'],
        exclude: ['test/crash/**', ...slow, ...alone],
      }),
      project('slow', { ...SLOW, isolate: false, include: slow }),
      project('crash', {
        ...CRASH,
        isolate: true,
        include: ['test/crash/**/*.test.ts'],
        exclude: ['test/crash/campaign.test.ts'],
      }),
      project('campaign', { ...CRASH, groupOrder: 3, isolate: true, include: ['test/crash/campaign.test.ts'] }),
    ],
  },
});
