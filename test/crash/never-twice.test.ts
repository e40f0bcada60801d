import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { appendSites, sendSites } from '../../src/app/event-store/append-sites.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/harness/simulator-process.js';
import { describeWithPostgres } from '../support/postgres.js';
import { expectNoDoubles } from './aftermath.js';
import { killPointsOfAppend, killPointsOfSend } from './kill-point.js';
import { runCrash, type Turn } from './run.js';
import { appendScenarios, type Scenario, sendScenarios } from './scenarios.js';
import { type Survivor, startSurvivor } from './survivor.js';

const PATIENCE_MS = 600_000;

// A crash is mostly waiting for deadlines and leases: many share two cores well.
vi.setConfig({ maxConcurrency: 8 });

/** On a busy machine one process would be late for the deadlines of all eight. */
const SURVIVORS = 4;

/** Every place that appends or sends, on each of its sides, in each of its scenarios. */
const turns: readonly Turn[] = [
  ...appendSites.flatMap((site) =>
    appendScenarios[site].flatMap((scenario: Scenario) =>
      killPointsOfAppend(site)
        .filter((point) => scenario.only === undefined || point.startsWith(scenario.only))
        .map((point) => ({ point, scenario })),
    ),
  ),
  ...sendSites.flatMap((site) =>
    sendScenarios[site].flatMap((scenario: Scenario) => killPointsOfSend(site).map((point) => ({ point, scenario }))),
  ),
].map((turn, index) => ({ ...turn, serial: index + 1 }));

const title = ({ point, scenario }: Turn): string =>
  `${point}${scenario.occurrence === undefined ? '' : ` (${scenario.occurrence})`}: ${scenario.title} ends ${scenario.ends}`;

describeWithPostgres('a process killed at', () => {
  let simulator: ExternalSimulator;
  let survivors: readonly Survivor[];
  beforeAll(async () => {
    simulator = await startExternalSimulator();
    survivors = await Promise.all(Array.from({ length: SURVIVORS }, startSurvivor));
  });
  afterAll(async () => {
    await Promise.all((survivors ?? []).map(({ close }) => close()));
    await expectNoDoubles(simulator).finally(() => simulator.close());
  });

  const survivorOf = ({ serial }: Turn): Survivor => {
    const survivor = survivors[serial % SURVIVORS];
    if (survivor === undefined) throw new Error('no process is there to go on');
    return survivor;
  };

  const crashes = (chosen: readonly Turn[]) => {
    for (const turn of chosen)
      it.concurrent(title(turn), () => runCrash(turn, simulator, survivorOf(turn)), PATIENCE_MS);
  };
  crashes(turns.filter(({ scenario }) => scenario.thorough === undefined));
  describe.skipIf(process.env.CRASH_FULL !== '1')('[CRASH_FULL=1]', () => {
    crashes(turns.filter(({ scenario }) => scenario.thorough === true));
  });
});
