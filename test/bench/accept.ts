import type { BareArgument, BareReady } from './bare-process.js';
import { startChild } from './child.js';
import type { LoadResult, Target } from './load-process.js';
import { atLeast, perSecond, type Row } from './report.js';
import { interleave, median } from './rounds.js';
import { onStage } from './stage.js';

const IN_FLIGHT = 32;
const ROUND_MS = 2_000;
const ROUNDS = 5;

/** Of an `InvoiceAccepted` in the log, with its hash text and sealed fields. */
const RECORD_BYTES = 1_700;

/** `POST /v1/nfse` with keys, against bare Hono and one durable INSERT into the same database (design section 12: 0.4). */
export const benchAccept = (): Promise<readonly Row[]> =>
  onStage(['api'], async ({ service, load, alsoStop }) => {
    const argument: BareArgument = { connectionString: service.connectionString, recordBytes: RECORD_BYTES };
    const bare = await startChild<BareReady>('bare-process.ts', argument);
    alsoStop(bare.stop);
    const post = (target: Target) => () =>
      load({ target, what: { kind: 'post' }, inFlight: IN_FLIGHT, until: { milliseconds: ROUND_MS } });
    const sides = { ours: post(service), bare: post({ origin: bare.ready.origin, key: '' }) };
    const { ours, bare: theirs, ratio } = await interleave(ROUNDS, sides, (result) => result.perSecond);
    return [
      {
        name: 'accept (POST)',
        figure: perSecond(medianOf(ours, 'perSecond'), 'requests'),
        ratio,
        aim: atLeast(0.4, ratio),
        detail: comparison(ours, theirs, IN_FLIGHT),
      },
    ];
  });

export const medianOf = (results: readonly LoadResult[], field: keyof LoadResult): number =>
  median(results.map((result) => result[field]));

export const comparison = (ours: readonly LoadResult[], bare: readonly LoadResult[], inFlight: number): string =>
  `bare ${perSecond(medianOf(bare, 'perSecond'), 'requests')}, ${inFlight} in flight, ` +
  `p50 ${medianOf(ours, 'p50Ms').toFixed(1)} ms and p99 ${medianOf(ours, 'p99Ms').toFixed(1)} ms against ` +
  `${medianOf(bare, 'p50Ms').toFixed(1)} and ${medianOf(bare, 'p99Ms').toFixed(1)}`;
