import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.js';
import type { Flood, FloodResult } from './hostile-flood-process.js';
import { type FloodName, type FloodTarget, floods } from './hostile-floods.js';
import { linksOf, openApiClient, postUntilShown, untilIdle } from './hostile-invoices.js';
import type { HostileAnswer, HostileReady } from './hostile-service-process.js';
import { openClient } from './plain-client.js';
import { atMost, type BenchResult, type Row } from './report.js';
import { flatRows, quantile, type Sample, soakCharts, verdictOf } from './soak/flat.js';
import {
  capacityOf,
  createTraffic,
  nothingSeen,
  pacedTraffic,
  routes,
  type Seen,
  type Traffic,
} from './soak/traffic.js';

const RATES = { RATE_WRITE_PER_MINUTE: '1000000', RATE_READ_PER_MINUTE: '1000000' };

export const SOAK_MINUTES = 30;

const COMPANIES = 12;
/** Of the company that floods at the end. */
const FLOODING_INVOICES = 200;
/** As many as keep two cores busy. */
const CLIENTS = 48;
const SHARE_OF_CAPACITY = 0.7;
const WINDOWS = 30;
const LEAST_WINDOW_MS = 5_000;
/** Each flood, and the measuring of the capacity, as a part of the whole. */
const PHASE_SHARE = 1 / 20;
const LEAST_PHASE_MS = 15_000;
const FLOOD_AIM = 2;

/**
 * Quiet traffic and floods in turn, in so many rounds, because other guests of the machine slow it for seconds. The flood of invoices is apart: what it
 * had accepted is issued for a while, which must end before anything else is measured.
 */
const BLOCKS = [
  { floods: ['another-server', 'get', 'pdf'], rounds: 4 },
  { floods: ['post'], rounds: 2 },
] as const satisfies readonly { floods: readonly FloodName[]; rounds: number }[];

/**
 * Mixed traffic of a dozen companies at 70 % of the capacity that was measured just before, for so many minutes: memory, latency and queues over
 * time, and whether they are flat by the rule of `flatRows`. Then another company floods, and the p99 of the others is compared with that of quiet
 * traffic in turn with the floods.
 */
export const benchSoak = async (minutes: number): Promise<BenchResult> => {
  if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');
  const home = await mkdtemp(join(tmpdir(), 'nfse-soak-'));
  const stops: (() => Promise<unknown>)[] = [];
  try {
    // As root the database runs as another user, who must be able to pass through.
    await chmod(home, 0o711);
    const env = { PORT: '0', OPS_PORT: '0', DATA_DIR: join(home, 'data'), ...RATES };
    const service = await startChild<HostileReady, 'since then', HostileAnswer>('hostile-service-process.ts', {
      env,
      companies: COMPANIES + 1,
    });
    stops.push(service.stop);
    const flooder = await startChild<true, Flood, FloodResult>('hostile-flood-process.ts', null);
    stops.push(flooder.stop);
    const bare = await startChild<string>('hostile-bare-process.ts', null);
    stops.push(bare.stop);
    const { origin, opsUrl, keys } = service.ready;
    const [floodingKey, ...otherKeys] = keys;
    if (floodingKey === undefined) throw new Error('the service has no companies');
    const flooding = openApiClient(origin, floodingKey);
    const others = otherKeys.map((key) => openClient(origin, key, CLIENTS));
    stops.push(async () => {
      for (const client of others) client.close();
    });
    const ids = await postUntilShown(flooding, FLOODING_INVOICES);
    const target: FloodTarget = {
      origin,
      bareOrigin: bare.ready,
      key: floodingKey,
      ids,
      links: await linksOf(flooding, ids),
    };
    const traffic = createTraffic(others);
    const phaseMs = Math.max(LEAST_PHASE_MS, minutes * 60_000 * PHASE_SHARE);
    await capacityOf(traffic, CLIENTS, phaseMs / 2);
    const capacity = await capacityOf(traffic, CLIENTS, phaseMs);
    tell(`capacity ${capacity.toFixed(1)} invoices/s with ${CLIENTS} clients at once`);
    traffic.take();
    const pace = capacity * SHARE_OF_CAPACITY;
    const sample = (minute: number, seen: Seen) => sampleOf(minute, seen, traffic, { ask: service.ask, opsUrl });
    const samples = await soaked(traffic, pace, minutes, sample);
    const flat = flatRows(samples);
    const verdict = verdictOf(flat);
    tell(verdict);
    const rows: Row[] = [
      {
        name: 'soak',
        figure: `${pace.toFixed(1)} invoices/s for ${minutes} minutes`,
        detail: `${verdict}; 70 % of ${capacity.toFixed(1)} invoices/s, which were measured before; six requests or more an invoice, of ${COMPANIES} companies`,
      },
      ...flat,
    ];
    for (const block of BLOCKS)
      rows.push(...(await playFloods(block, phaseMs, { service, flooder, target, traffic, pace })));
    return { rows, charts: soakCharts(samples) };
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(home, { recursive: true, force: true });
  }
};

const tell = (text: string): void => void process.stderr.write(`\n  ${text}`);

const soaked = async (
  traffic: Traffic,
  pace: number,
  minutes: number,
  sample: (minute: number, seen: Seen) => Promise<Sample>,
): Promise<readonly Sample[]> => {
  const wholeMs = minutes * 60_000;
  const windowMs = Math.max(LEAST_WINDOW_MS, wholeMs / WINDOWS);
  const samples: Sample[] = [];
  for (let passedMs = windowMs; passedMs <= wholeMs + 1; passedMs += windowMs) {
    await pacedTraffic(traffic, pace, windowMs);
    const taken = await sample(passedMs / 60_000, traffic.take());
    samples.push(taken);
    tell(textOf(taken));
  }
  return samples;
};

const sampleOf = async (
  minute: number,
  { times, refused }: Seen,
  traffic: Traffic,
  { ask, opsUrl }: { ask(question: 'since then'): Promise<HostileAnswer>; opsUrl: string },
): Promise<Sample> => {
  const { rssMb } = await ask('since then');
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  const most = (name: string): number => {
    const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
      Number(value),
    );
    return Math.max(0, ...values);
  };
  return {
    minute,
    rssMb,
    times,
    refused,
    underWay: traffic.underWay(),
    depth: most('nfse_queue_depth'),
    lagSeconds: most('nfse_projection_lag_seconds'),
  };
};

const textOf = ({ minute, rssMb, times, underWay, depth, lagSeconds, refused }: Sample): string =>
  `minute ${minute.toFixed(1)}: ${rssMb.toFixed(0)} MB; ` +
  `${routes.map((route) => `${route} ${quantile(times[route], 0.5).toFixed(1)}/${quantile(times[route], 0.99).toFixed(1)}`).join(', ')} ms p50/p99; ` +
  `${underWay} invoices under way, ${depth} work items, lag ${lagSeconds.toFixed(1)} s${refused === 0 ? '' : `; ${refused} REFUSED`}`;

type Flooded = {
  service: Child<HostileReady, 'since then', HostileAnswer>;
  flooder: Child<true, Flood, FloodResult>;
  target: FloodTarget;
  traffic: Traffic;
  pace: number;
};

/** `wholeMs`: of each flood, all rounds together. */
const playFloods = async (
  { floods: names, rounds }: (typeof BLOCKS)[number],
  wholeMs: number,
  { service, flooder, target, traffic, pace }: Flooded,
): Promise<readonly Row[]> => {
  const phaseMs = wholeMs / rounds;
  const quiet = nothingSeen();
  const flooded = names.map((name) => ({ name, seen: nothingSeen(), sent: 0 }));
  for (let round = 0; round < rounds; round += 1) {
    await untilIdle(service);
    // Not counted: the first invoices after a rest find nothing else under way.
    await pacedTraffic(traffic, pace, LEAST_WINDOW_MS);
    traffic.take();
    await pacedTraffic(traffic, pace, phaseMs);
    addSeen(quiet, traffic.take());
    for (const flood of flooded) {
      const plan = { ...floods[flood.name].plan(target), milliseconds: phaseMs, from: flood.sent };
      const [{ sent }] = await Promise.all([flooder.ask(plan), pacedTraffic(traffic, pace, phaseMs)]);
      addSeen(flood.seen, traffic.take());
      flood.sent += sent;
    }
  }
  return flooded.flatMap(({ name, seen, sent }) => floodRows(name, seen, quiet, sent / (wholeMs / 1_000)));
};

const addSeen = (seen: Seen, more: Seen): void => {
  for (const route of routes) seen.times[route].push(...more.times[route]);
  seen.refused += more.refused;
};

const floodRows = (name: FloodName, seen: Seen, quiet: Seen, perSecond: number): readonly Row[] =>
  (['POST', 'GET', 'PDF'] as const).map((route) => {
    const [during, before] = [quantile(seen.times[route], 0.99), quantile(quiet.times[route], 0.99)];
    const ratio = during / before;
    return {
      name: `soak, ${floods[name].name}: the others' ${route}`,
      figure: `${during.toFixed(1)} ms p99`,
      floor: `${before.toFixed(1)} ms quiet`,
      ratio,
      // What a flood of another server costs is the machine's part.
      ...(name === 'another-server' ? {} : { aim: atMost(FLOOD_AIM, ratio) }),
      detail: `${seen.times[route].length} samples; flooded with ${perSecond.toFixed(0)} requests/s${seen.refused === 0 ? '' : `; ${seen.refused} OF ALL ROUTES REFUSED`}`,
    };
  });
