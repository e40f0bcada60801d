import { compareServers, startBare } from './compare.js';
import { withBenchHarness } from './harness.js';
import type { Row } from './report.js';

/** Of an `InvoiceAccepted` in the log: its hash text with sealed fields. */
const RECORD_BYTES = 1_700;

/**
 * `POST /v1/nfse` with keys, against bare Hono and one durable INSERT into the same database (aim: docs/development.md#bench). Only the role
 * `api` runs; `benchWay` measures what happens to an invoice afterwards.
 */
export const benchAccept = (): Promise<readonly Row[]> =>
  withBenchHarness(['api'], async (harness) => {
    const bare = await startBare(harness, { recordBytes: RECORD_BYTES });
    return [await compareServers(harness, bare, { name: 'accept (POST)', aim: 0.5, what: { kind: 'post' } })];
  });
