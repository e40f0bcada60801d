import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.js';
import type { Flood, FloodResult } from './hostile-flood.js';
import { linksOf, postUntilShown } from './hostile-invoices.js';
import type { HostileAnswer, HostileReady } from './hostile-service.js';
import { openClient, type PlainClient, postOf } from './plain-client.js';
import { atMost, type Row } from './report.js';

/** So high that the rate limit never refuses: this bench measures the turns of companies. */
const RATES = { RATE_WRITE_PER_MINUTE: '1000000', RATE_READ_PER_MINUTE: '1000000' };

const FLOODS_FOR_MS = 8_000;
/** What the other server answers with. */
const BARE_BYTES = 10_000;
/** The first moments of a flood, while its connections are opened and threads are started, count too. */
const SEEN_FOR_MS = FLOODS_FOR_MS - 500;
const FLOODING_INVOICES = 500;
const OTHER_INVOICES = 400;
const PDFS_A_PHASE = 55;

type Service = Child<HostileReady, 'since then', HostileAnswer>;
type Route = 'GET' | 'XML' | 'POST' | 'PDF';
type Times = Record<Route, number[]> & { refused: number };

/**
 * What another company's requests take while one floods the service, against what they take in quiet: p50 and p99 of each route,
 * whose aim is "at most doubled", and the longest block of the event loop and the memory of the service meanwhile. A flood of a
 * server in this process, which has nothing to do with the service, says what the machine's cores alone make of it.
 */
export const benchHostile = async (): Promise<readonly Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-hostile-'));
  const stops: (() => Promise<unknown>)[] = [];
  try {
    // As root the database runs as another user, who must be able to pass through.
    await chmod(home, 0o711);
    const env = { PORT: '0', OPS_PORT: '0', DATA_DIR: join(home, 'data'), ...RATES };
    const service: Service = await startChild('hostile-service.ts', { env });
    stops.push(service.stop);
    const flooder = await startChild<true, Flood, FloodResult>('hostile-flood.ts', null);
    stops.push(flooder.stop);
    return await play(service, flooder);
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(home, { recursive: true, force: true });
  }
};

const play = async (service: Service, flooder: Child<true, Flood, FloodResult>): Promise<readonly Row[]> => {
  const { origin, keys } = service.ready;
  const bare = createServer((_request, response) => response.end(Buffer.alloc(BARE_BYTES)));
  await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
  const bareOrigin = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
  const elsewhere: readonly [string, FloodOf] = [
    'flood of another server',
    () => ({ origin: bareOrigin, what: { kind: 'get', paths: ['/'] }, inFlight: 32 }),
  ];
  const flooding = openClient(origin, keys.flooding, 16);
  const other = openClient(origin, keys.other, 16);
  try {
    const theirs = await postUntilShown(flooding, FLOODING_INVOICES);
    const ours = await postUntilShown(other, OTHER_INVOICES);
    const links = await linksOf(flooding, theirs.slice(theirs.length / 2));
    const pdfs = createPdfs(ours);
    await watch(other, ours, pdfs, 3_000);
    await service.ask('since then');
    const quiet = await watch(other, ours, pdfs, SEEN_FOR_MS);
    const rows: Row[] = [...quietRows(quiet), machineRow('quiet', await service.ask('since then'))];
    let beside: Times | undefined;
    for (const [name, flood] of [elsewhere, ...floodsOf(theirs, links)]) {
      const underWay = flooder.ask({ origin, milliseconds: FLOODS_FOR_MS, ...flood(keys.flooding) });
      const [seen, result] = await Promise.all([watch(other, ours, pdfs, SEEN_FOR_MS), underWay]);
      beside ??= seen;
      rows.push(
        ...floodedRows(name, { quiet, beside }, seen),
        machineRow(name, await service.ask('since then'), result),
      );
    }
    return rows;
  } finally {
    flooding.close();
    other.close();
    bare.close();
    bare.closeAllConnections();
  }
};

type FloodOf = (key: string) => Pick<Flood, 'key' | 'what' | 'inFlight'> & { origin?: string };

/** POSTs come last, because their invoices are still being issued afterwards. */
const floodsOf = (ids: readonly string[], links: readonly string[]): readonly (readonly [string, FloodOf])[] => {
  const half = ids.slice(0, ids.length / 2);
  const get = (paths: readonly string[]) => ({ kind: 'get', paths }) as const;
  const assets = ['/docs/assets/swagger-ui-bundle.js', '/docs/assets/swagger-ui.css'];
  return [
    ['PDF flood', (key) => ({ key, what: get(half.map((id) => `/v1/nfse/${id}/pdf`)), inFlight: 64 })],
    ['PDF flood by token', () => ({ what: get(links), inFlight: 64 })],
    ['XML flood', (key) => ({ key, what: get(ids.map((id) => `/v1/nfse/${id}/xml`)), inFlight: 32 })],
    ['assets flood', () => ({ what: get(assets), inFlight: 32 })],
    ['POST flood', (key) => ({ key, what: { kind: 'post' }, inFlight: 32 })],
  ];
};

/** Uses every invoice once, so that no document was rendered before, and a fixed number in each phase. */
const createPdfs = (ids: readonly string[]) => {
  const left = [...ids];
  return (alreadyInPhase: number): string | undefined => (alreadyInPhase < PDFS_A_PHASE ? left.pop() : undefined);
};

const TURN: readonly Route[] = ['GET', 'POST', 'GET', 'XML', 'PDF', 'GET', 'XML', 'GET'];

/** One request after another, as a client that waits for each answer does. */
const watch = async (
  client: PlainClient,
  ids: readonly string[],
  pdfs: (already: number) => string | undefined,
  milliseconds: number,
): Promise<Times> => {
  const times: Times = { GET: [], XML: [], POST: [], PDF: [], refused: 0 };
  const begun = performance.now();
  for (let count = 0; performance.now() - begun < milliseconds; count += 1) {
    const route = TURN[count % TURN.length] ?? 'GET';
    const id = route === 'PDF' ? pdfs(times.PDF.length) : ids[(count * 7) % ids.length];
    if (id === undefined) continue;
    const path = route === 'POST' ? '/v1/nfse' : `/v1/nfse/${id}${ENDINGS[route]}`;
    const sentAt = performance.now();
    const { status } = await client.exchange(path, route === 'POST' ? postOf(count) : undefined);
    if (status !== 200 && status !== 202) times.refused += 1;
    times[route].push(performance.now() - sentAt);
  }
  return times;
};

const ENDINGS: Record<Exclude<Route, 'POST'>, string> = { GET: '', XML: '/xml', PDF: '/pdf' };

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;

const routesOf = (times: Times): readonly (readonly [Route, readonly number[]])[] =>
  (['GET', 'XML', 'POST', 'PDF'] as const).map((route) => [route, times[route]]);

const quietRows = (quiet: Times): readonly Row[] =>
  routesOf(quiet).map(([route, times]) => ({
    name: `quiet: ${route}`,
    figure: `${quantile(times, 0.99).toFixed(1)} ms p99`,
    detail: `p50 ${quantile(times, 0.5).toFixed(1)} ms; ${times.length} requests, one after another`,
  }));

const AIM = 2;

/** `beside`: while the same cores were flooded with work that is not the service's. */
const floodedRows = (name: string, { quiet, beside }: { quiet: Times; beside: Times }, seen: Times): readonly Row[] =>
  routesOf(seen).map(([route, times]) => {
    const ratio = quantile(times, 0.99) / quantile(quiet[route], 0.99);
    const ofMedian = (before: Times): string => (quantile(times, 0.5) / quantile(before[route], 0.5)).toFixed(2);
    return {
      name: `${name}: the other's ${route}`,
      figure: `${quantile(times, 0.99).toFixed(1)} ms p99`,
      ratio,
      aim: atMost(AIM, ratio),
      detail:
        `p50 ${quantile(times, 0.5).toFixed(1)} ms: ${ofMedian(quiet)} of quiet, ${ofMedian(beside)} of that beside another server; ` +
        `${times.length} requests${seen.refused === 0 ? '' : `; ${seen.refused} OF ALL ROUTES REFUSED`}`,
    };
  });

const machineRow = (name: string, seen: HostileAnswer, flood?: FloodResult): Row => {
  const answers = Object.entries(flood?.statuses ?? {}).map(([status, count]) => `${count} times ${status}`);
  const rate =
    flood === undefined ? '' : `; flooded with ${flood.perSecond.toFixed(0)} requests/s: ${answers.join(', ')}`;
  return {
    name: `  ${name}: the service`,
    figure: `${seen.longestMs.toFixed(0)} ms`,
    detail:
      `longest block of the event loop, of which the collector ${seen.collectorMs.toFixed(0)} ms; ` +
      `${seen.rssMb.toFixed(0)} MB, ${seen.processorSeconds.toFixed(1)} s of processor${rate}`,
  };
};
