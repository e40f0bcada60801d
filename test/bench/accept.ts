import { compareServers, startBare } from './compare.js';
import type { Row } from './report.js';
import { onStage } from './stage.js';

/** Of an `InvoiceAccepted` in the log: its hash text with sealed fields. */
const RECORD_BYTES = 1_700;

/**
 * `POST /v1/nfse` with keys, against bare Hono and one durable INSERT into the same database (aim: docs/development.md#bench). Only the role
 * `api` runs; `benchWay` measures what happens to an invoice afterwards.
 */
export const benchAccept = (): Promise<readonly Row[]> =>
  onStage(['api'], async (stage) => {
    const bare = await startBare(stage, RECORD_BYTES);
    return [await compareServers(stage, bare, { name: 'accept (POST)', aim: 0.4, what: { kind: 'post' } })];
  });
