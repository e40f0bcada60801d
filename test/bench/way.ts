import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { roles } from '../../src/runtime/config/config.js';
import { startChild } from './child.js';
import { type Surroundings, withBenchHarness } from './harness.js';
import { postUntilIssued } from './issued.js';
import { atLeast, perSecond, type Row } from './report.js';
import { median } from './rounds.js';
import type { SimulatorReady } from './simulator-process.js';

const WARM_UP = 200;
const INVOICES = 400;
const ROUNDS = 3;

/** From the first POST to the last authorization in the log; the simulator runs in a separate process (aim: docs/development.md#bench). */
export const benchWay = (): Promise<readonly Row[]> =>
  withBenchHarness(
    roles,
    async (harness) => {
      const db = new pg.Pool({ connectionString: harness.service.ready.connectionString, max: 1 });
      harness.alsoStop(() => db.end());
      await postUntilIssued(harness, db, WARM_UP);
      const rates: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.push(INVOICES / (await postUntilIssued(harness, db, INVOICES)));
      }
      const rate = median(rates);
      const detail = `${ROUNDS} times ${INVOICES} invoices, slowest ${perSecond(Math.min(...rates), 'invoices')}`;
      return [{ name: 'whole way', figure: perSecond(rate, 'invoices'), aim: atLeast(100, rate, '/s'), detail }];
    },
    simulatorBeside,
  );

const simulatorBeside = async (
  home: string,
  alsoStop: (stop: () => Promise<unknown>) => void,
): Promise<Surroundings> => {
  const certificatesFrom = join(home, 'authorizer');
  const simulator = await startChild<SimulatorReady>('simulator-process.ts', { dataDir: certificatesFrom });
  alsoStop(simulator.stop);
  const { urls, caPem } = simulator.ready;
  const caFile = join(home, 'authorizer-ca.pem');
  await writeFile(caFile, caPem);
  const env = { AUTHORIZER_TEST_URL: urls.test, AUTHORIZER_LIVE_URL: urls.live, AUTHORIZER_CA_FILE: caFile };
  return { env, certificatesFrom };
};
