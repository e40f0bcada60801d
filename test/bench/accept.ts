import { join } from 'node:path';
import { startChild } from './child.js';
import { compareServers, startBare } from './compare.js';
import { RATES, withBenchHarness } from './harness.js';
import type { Row } from './report.js';
import type { ServiceArgument, ServiceQuestion, ServiceReady } from './service-process.js';

/** Of an `InvoiceAccepted` in the log: its hash text with sealed fields. */
const RECORD_BYTES = 1_700;

/**
 * `POST /v1/nfse` with keys, against bare Hono and one durable INSERT into the same database (aim: test/bench/README.md). Only the role
 * `api` runs; `benchWay` measures what happens to an invoice afterwards.
 */
export const benchAccept = (): Promise<readonly Row[]> =>
  withBenchHarness(['api'], async (harness) => {
    const bare = await startBare(harness, { recordBytes: RECORD_BYTES });
    return [await compareServers(harness, bare, { name: 'accept (POST)', aim: 0.5, what: { kind: 'post' } })];
  });

/**
 * The same with the log in EventStoreDB, against the service with its log in PostgreSQL on the same machine (aim: test/bench/README.md). The server
 * of `TEST_EVENTSTORE_URL` must be empty.
 */
export const benchAcceptEventStore = async (): Promise<readonly Row[]> => {
  const url = process.env.TEST_EVENTSTORE_URL;
  if (url === undefined) throw new Error('accept-eventstore needs TEST_EVENTSTORE_URL, an empty EventStoreDB');
  const measure: Parameters<typeof withBenchHarness<readonly Row[]>>[1] = async (harness) => {
    const env = { PORT: '0', OPS_PORT: '0', DATA_DIR: join(harness.home, 'log-in-postgres'), ...RATES };
    const argument: ServiceArgument = { env, roles: ['api'] };
    const { ready, ask, stop } = await startChild<ServiceReady, ServiceQuestion, number>(
      'service-process.ts',
      argument,
    );
    harness.alsoStop(stop);
    const name = 'accept (POST), log in EventStoreDB';
    return [await compareServers(harness, { target: ready, ask }, { name, aim: 0.6, what: { kind: 'post' } })];
  };
  return await withBenchHarness(['api'], measure, async () => ({ env: { EVENTSTORE_URL: url } }));
};
