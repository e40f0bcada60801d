import type { BareArgument, BareReady } from './baseline-process.js';
import { type Child, startChild } from './child.js';
import type { BenchHarness } from './harness.js';
import type { Load, LoadResult, Target } from './load-process.js';
import { atLeast, perSecond, type Row } from './report.js';
import { interleave, median } from './rounds.js';

const IN_FLIGHT = 32;
/** How long one side is measured at a time. */
export const ROUND_MS = 2_000;
const ROUNDS = 5;

/** `beside` runs during the rounds of both servers, so that their machine is equally busy. */
export type Comparison = { name: string; aim: number; what: Load['what']; beside?: () => Promise<unknown> };

type BareServer = Child<BareReady, 'processor seconds', number>;

/** What the service is compared with. */
type OtherServer = { target: Target; ask: BareServer['ask'] };

/** The server that the service is compared with, on the service's own database. */
export const startBare = async (
  { service, alsoStop }: BenchHarness,
  { recordBytes = 0, file = '' }: Partial<BareArgument>,
): Promise<OtherServer> => {
  const argument: BareArgument = { connectionString: service.ready.connectionString, recordBytes, file };
  const bare: BareServer = await startChild('baseline-process.ts', argument);
  alsoStop(bare.stop);
  return { target: { origin: bare.ready.origin, key: '' }, ask: bare.ask };
};

/** The same requests to the service and to the other server in turn. */
export const compareServers = async (
  { service, load }: BenchHarness,
  other: OtherServer,
  { name, aim, what, beside }: Comparison,
): Promise<Row> => {
  const side =
    ({ target, ask }: OtherServer) =>
    async (): Promise<Measured> => {
      const before = await ask('processor seconds');
      const loading = load({ target, what, inFlight: IN_FLIGHT, until: { milliseconds: ROUND_MS } });
      const [result] = await Promise.all([loading, beside?.()]);
      const used = (await ask('processor seconds')) - before;
      return { ...result, processorMicros: (used / result.requests) * 1_000_000 };
    };
  const sides = {
    ours: side({ target: service.ready, ask: service.ask }),
    bare: side(other),
  };
  const measured = await interleave(ROUNDS, sides, (result) => result.perSecond);
  const { ratio } = measured;
  const ours = mediansOf(measured.ours);
  const theirs = mediansOf(measured.bare);
  const detail =
    `${IN_FLIGHT} in flight; ` +
    `p50 ${ours.p50Ms.toFixed(1)} ms against ${theirs.p50Ms.toFixed(1)}, p99 ${ours.p99Ms.toFixed(1)} against ${theirs.p99Ms.toFixed(1)}; ` +
    `${ours.processorMicros.toFixed(0)} µs of the server process a request against ${theirs.processorMicros.toFixed(0)}`;
  return {
    name,
    figure: perSecond(ours.perSecond, 'requests'),
    floor: perSecond(theirs.perSecond, 'requests'),
    ratio,
    aim: atLeast(aim, ratio),
    detail,
  };
};

/** Processor time of the process, which tells more than a rate where other work shares the machine. */
type Measured = LoadResult & { processorMicros: number };

const mediansOf = (results: readonly Measured[]) => {
  const of = (field: keyof Measured): number => median(results.map((result) => result[field]));
  return {
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    processorMicros: of('processorMicros'),
  };
};
