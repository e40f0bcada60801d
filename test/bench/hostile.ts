import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.js';
import type { Flood, FloodResult } from './hostile-flood-process.js';
import { type FloodName, type FloodTarget, floodNames, floods } from './hostile-floods.js';
import { linksOf, openApiClient, postUntilShown, untilIdle } from './hostile-invoices.js';
import { addPhase, floodedRows, nothingSeen, quietRows, type Seen } from './hostile-rows.js';
import type { HostileAnswer, HostileReady } from './hostile-service-process.js';
import { createWatch, type Watch } from './hostile-watch.js';
import { openClient } from './plain-client.js';
import type { Row } from './report.js';

/** So high that the rate limit never refuses: this bench measures the turns of companies. */
const RATES = { RATE_WRITE_PER_MINUTE: '1000000', RATE_READ_PER_MINUTE: '1000000' };

/** More than the service keeps PDFs in memory (32 MiB, some 70 kB each), so that each PDF is drawn. */
const OTHER_INVOICES = 600;
const FLOODING_INVOICES = 600;

const WARM_UP_MS = 4_000;
/** A flood goes on while the last requests are answered. */
const TAIL_MS = 500;

/** Phases of the same length in turn, so that the quiet service and each flood see the same machine. */
type Block = { floods: readonly FloodName[]; rounds: number; phaseMs: number };

const BLOCKS: readonly Block[] = [
  { floods: floodNames.filter((name) => name !== 'post'), rounds: 4, phaseMs: 6_000 },
  // Apart and in fewer, longer phases: after each the service is still issuing what was accepted, which has to end first.
  { floods: ['post'], rounds: 2, phaseMs: 12_000 },
];

type Service = Child<HostileReady, 'since then', HostileAnswer>;
type Flooder = Child<true, Flood, FloodResult>;
type Attacked = { service: Service; flooder: Flooder; watch: Watch; target: FloodTarget };

/**
 * What another company's requests take while one floods the service, against what they take in quiet: p50 and p99 of each route,
 * whose aim is "at most doubled", and the longest block of the event loop and the memory of the service meanwhile. A flood of a
 * server that has nothing to do with the service says what the machine's cores alone make of it.
 */
export const benchHostile = async (names: readonly FloodName[] = floodNames): Promise<readonly Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-hostile-'));
  const stops: (() => Promise<unknown>)[] = [];
  const start: typeof startChild = async (script, argument) => {
    const child = await startChild<never, never, never>(script, argument);
    stops.push(child.stop);
    return child;
  };
  try {
    // As root the database runs as another user, who must be able to pass through.
    await chmod(home, 0o711);
    const env = { PORT: '0', OPS_PORT: '0', DATA_DIR: join(home, 'data'), ...RATES };
    const service: Service = await start('hostile-service-process.ts', { env, companies: 2 });
    const { ready: bareOrigin } = await start<string>('hostile-bare-process.ts', null);
    const flooder: Flooder = await start('hostile-flood-process.ts', null);
    const { origin, keys } = service.ready;
    const [floodingKey = '', otherKey = ''] = keys;
    const flooding = openApiClient(origin, floodingKey);
    const other = openClient(origin, otherKey, 32);
    stops.push(async () => other.close());
    const ids = await postUntilShown(flooding, FLOODING_INVOICES);
    const watch = createWatch(other, await postUntilShown(openApiClient(origin, otherKey), OTHER_INVOICES));
    const target = { origin, bareOrigin, key: floodingKey, ids, links: await linksOf(flooding, half(ids)) };
    return await play({ service, flooder, watch, target }, names);
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(home, { recursive: true, force: true });
  }
};

/** From the middle on: two floods that ask for the same PDFs must not find those that the other has just had drawn. */
const half = <T>(all: readonly T[]): readonly T[] => [...all.slice(all.length / 2), ...all.slice(0, all.length / 2)];

const play = async (attacked: Attacked, names: readonly FloodName[]): Promise<readonly Row[]> => {
  await attacked.watch(WARM_UP_MS, nothingSeen().times);
  const rows: Row[] = [];
  for (const block of BLOCKS) {
    const chosen = block.floods.filter((name) => names.includes(name));
    if (chosen.length > 0) rows.push(...(await playBlock(attacked, { ...block, floods: chosen })));
  }
  return rows;
};

const playBlock = async (attacked: Attacked, { floods: chosen, rounds, phaseMs }: Block): Promise<readonly Row[]> => {
  const quiet = nothingSeen();
  const flooded = chosen.map((name) => ({ name, seen: nothingSeen() }));
  for (let round = 0; round < rounds; round += 1) {
    await untilIdle(attacked.service);
    await playPhase(attacked, phaseMs, quiet);
    for (const { name, seen } of flooded) await playPhase(attacked, phaseMs, seen, name);
  }
  const beside = flooded.find(({ name }) => name === 'another-server')?.seen;
  return [
    ...quietRows(quiet),
    ...flooded.flatMap(({ name, seen }) => floodedRows(floods[name].name, seen, quiet, beside)),
  ];
};

/** Adds to what was seen in earlier phases of the same kind. */
const playPhase = async (attacked: Attacked, phaseMs: number, seen: Seen, name?: FloodName): Promise<void> => {
  const { service, flooder, watch, target } = attacked;
  await service.ask('since then');
  const flooding =
    name === undefined
      ? undefined
      : flooder.ask({ ...floods[name].plan(target), milliseconds: phaseMs + TAIL_MS, from: seen.flood.sent });
  // The first moments of a flood, while its connections are opened and threads are started, count too.
  await watch(phaseMs, seen.times);
  const result = await flooding;
  addPhase(seen, await service.ask('since then'), result);
};
