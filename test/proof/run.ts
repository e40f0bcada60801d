import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../tools/root.js';
import { startAuthorizer } from './authorizer.js';
import { createClients } from './clients.js';
import { auditOf, keepDocuments, keepReplays, keepRows } from './collect.js';
import { commitOfTree, engineVersions, openEngines } from './engines.js';
import {
  type DocumentFile,
  type Exchange,
  type LoggedEvent,
  type Mishap,
  RAW_FILES,
  type RunFacts,
} from './judge/raw.js';
import { createLive, type Live } from './live.js';
import { makeMishaps, planMishaps, TOO_SHORT_FOR_STEPS } from './mishaps.js';
import type { ProofOptions } from './options.js';
import { readLines } from './read-lines.js';
import { openRecorder, type Recorder } from './recorder.js';
import { type Service, startService } from './service.js';
import { NO_CLOCK_STEPS, openServiceClock } from './service-clock.js';
import { downloadNotes, exportLog, readAllOnce, repeatRequests, SETTLES_WITHIN_MS, untilSettled } from './settle.js';
import { makeTenants, TENANTS } from './tenants.js';
import { faultDeck, PERSONAL, wishOf } from './wishes.js';

/** What a run tells while it lasts: steps as lines, and the live line, which may be written over. */
export type Screen = { step(text: string): void; live(text: string): void };

const LIVE_EVERY_MS = 1_000;
/** Replays for each minute of the run; each starts a command. */
const REPLAYS_PER_MINUTE = 5;
const MOST_REPLAYS = 60;

/** Undoes what was done, last first; a failure of one does not keep the others. */
type Undo = (() => Promise<unknown>)[];

/**
 * Plays the service, its clients and everything that can befall them, and leaves the raw data in `folder`. Resolves with whether the run is
 * whole; an abort ends everything that was started. `service`: arguments of Node for another service than the shipped one.
 */
export const runProof = async (
  options: ProofOptions,
  folder: string,
  screen: Screen,
  signal: AbortSignal,
  service?: readonly string[],
): Promise<{ isWhole: boolean; live: Live }> => {
  await mkdir(join(folder, 'documents'), { recursive: true });
  const began = Date.now();
  const live = createLive(began);
  const recorder = openRecorder(folder);
  const undo: Undo = [];
  const facts = {
    seed: options.seed,
    minutes: options.minutes,
    options: {
      kills: options.kills,
      invoices: options.invoices,
      clients: options.clients,
      engines: options.engines,
    },
    commit: await commitOfTree(ROOT),
    node: process.version,
    beganAt: new Date(began).toISOString(),
    tenants: TENANTS,
    personal: PERSONAL,
  };
  let [engines, notMade, isWhole]: [string, readonly string[], boolean] = [options.engines, [], false];
  try {
    const played = await play(options, folder, { screen, live, recorder, undo, signal, program: service });
    [engines, notMade] = [played.engines, played.notMade];
    isWhole = !signal.aborted;
  } catch (error) {
    if (!signal.aborted) {
      recorder.trouble(`the run broke off: ${error instanceof Error ? error.message : 'why?'}`);
      screen.step(`the run broke off: ${error instanceof Error ? error.message : 'why?'}`);
    }
  } finally {
    for (const step of undo.reverse()) await step().catch(() => undefined);
    await recorder.close();
  }
  const run: RunFacts = { ...facts, engines, notMade, isWhole, endedAt: new Date().toISOString() };
  await writeFile(join(folder, RAW_FILES.run), `${JSON.stringify(run, null, 2)}\n`);
  return { isWhole, live };
};

type Stage = {
  screen: Screen;
  live: Live;
  recorder: Recorder;
  undo: Undo;
  signal: AbortSignal;
  program: readonly string[] | undefined;
};

const play = async (
  options: ProofOptions,
  folder: string,
  { screen, live, recorder, undo, signal, program }: Stage,
): Promise<{ engines: string; notMade: readonly string[] }> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-proof-'));
  undo.push(() => rm(home, { recursive: true, force: true }));
  // As root the database runs as another user, who must be able to pass through.
  await chmod(home, 0o711);
  screen.step('starting the simulator of the authorizer, the engines and the service');
  const authorizer = await startAuthorizer();
  undo.push(authorizer.stop);
  const engines = await openEngines(options.engines, join(home, 'data'));
  undo.push(engines.close);
  // The trust root of the authorizer must be there when the service starts.
  await authorizer.pfx(TENANTS['a-test'].cnpj, 'ESTUDIO EXEMPLO LTDA');
  const clock = await openServiceClock(home);
  const service = await startService(engines, authorizer, recorder, clock, program);
  undo.push(service.stop);
  const versions = `${options.engines}: ${await engineVersions(engines)}, ${availableParallelism()} cores`;
  screen.step('registering two companies');
  const keys = await makeTenants(service.env, authorizer);
  const { seed } = options;
  const totalMs = options.minutes * 60_000;
  const clients = createClients({
    seed,
    keys,
    recorder,
    authorizer,
    signal,
    origins: service.origins,
    heard: live.heard,
    ordered: live.fault,
  });
  const plan = planMishaps(seed, options.kills, Object.keys(engines.mishaps), {
    stepsClock: clock !== undefined,
  });
  screen.step(`${options.minutes} minutes with ${options.clients} clients and ${plan.length} mishaps; seed ${seed}`);
  const timer = setInterval(() => screen.live(live.line()), LIVE_EVERY_MS);
  try {
    const deck = faultDeck(seed);
    let next = 0;
    const until = Date.now() + totalMs;
    let areMade = false;
    // On a slow machine the mishaps take longer than the minutes, and each must befall a service at work.
    const isOver = (): boolean =>
      signal.aborted || (Date.now() >= until && areMade && live.counts.accepted >= options.invoices);
    const client = async (): Promise<void> => {
      while (!isOver()) {
        next += 1;
        await clients.play(wishOf(seed, next, deck));
      }
    };
    const mishaps = makeMishaps(
      plan,
      totalMs,
      { service, clock, engines, authorizer, recorder },
      live.mishap,
      signal,
    ).finally(() => {
      areMade = true;
    });
    await Promise.all([mishaps, ...Array.from({ length: options.clients }, client)]);
  } finally {
    clearInterval(timer);
  }
  signal.throwIfAborted();
  await settle(
    options,
    folder,
    { service, authorizer, clients, keys, databaseUrl: engines.databaseUrl },
    { screen, recorder, signal },
  );
  await service.stop();
  await writeFile(join(folder, RAW_FILES.ledger), JSON.stringify(await authorizer.ledger()));
  await writeLines(join(folder, RAW_FILES.calls), await authorizer.calls());
  return { engines: versions, notMade: [...engines.notMade, ...stepsNotMade(clock !== undefined, plan)] };
};

const stepsNotMade = (isAble: boolean, plan: ReturnType<typeof planMishaps>): readonly string[] => {
  if (!isAble) return [NO_CLOCK_STEPS];
  return plan.some(({ kind }) => kind === 'clock_step') ? [] : [TOO_SHORT_FOR_STEPS];
};

type Played = {
  service: Service;
  authorizer: Awaited<ReturnType<typeof startAuthorizer>>;
  clients: ReturnType<typeof createClients>;
  keys: Awaited<ReturnType<typeof makeTenants>>;
  databaseUrl(): Promise<string>;
};

/** Lets everything come to its end in peace, asks once more for all of it, and keeps what the judge needs. */
const settle = async (
  { seed, minutes }: ProofOptions,
  folder: string,
  { service, authorizer, clients, keys, databaseUrl }: Played,
  { screen, recorder, signal }: Pick<Stage, 'screen' | 'recorder' | 'signal'>,
): Promise<void> => {
  const { env } = service;
  const exported = join(folder, RAW_FILES.events);
  screen.step('no more mishaps: waiting for every outcome');
  await authorizer.clearFaults();
  const { first, last } = SETTLES_WITHIN_MS;
  const played = { service, authorizer };
  await untilSettled(played, exported, recorder, screen.live, { withinMs: first, signal });
  signal.throwIfAborted();
  screen.step('starting the service anew, and asking for every promise once more');
  await service.drain(0);
  await repeatRequests(seed, clients);
  const stories = await untilSettled(played, exported, recorder, screen.live, { withinMs: last, signal });
  await readAllOnce(clients, stories);
  const documents: DocumentFile[] = [...(await downloadNotes(folder, service, keys, stories, recorder))];
  signal.throwIfAborted();
  screen.step('opening every document, rebuilding the read models, replaying');
  documents.push(...(await keepDocuments(folder, await authorizer.keepLedgers(folder), env)));
  await writeLines(join(folder, RAW_FILES.documents), documents);
  const rows = await keepRows(env, await databaseUrl());
  if (rows === undefined) recorder.trouble('the log did not come to rest, so the read models were not compared');
  await writeFile(join(folder, RAW_FILES.rows), JSON.stringify(rows ?? { live: {}, rebuilt: {} }));
  signal.throwIfAborted();
  for (const finding of await auditOf(env)) recorder.trouble(finding);
  await recorder.flushed();
  const http = await readLines<Exchange>(join(folder, RAW_FILES.http));
  const events = await readLines<LoggedEvent>(exported);
  const mishaps = await readLines<Mishap>(join(folder, RAW_FILES.mishaps));
  const most = Math.min(MOST_REPLAYS, Math.ceil(minutes * REPLAYS_PER_MINUTE));
  await writeLines(join(folder, RAW_FILES.replays), await keepReplays(seed, most, { http, events, mishaps }, env));
  await exportLog(service, exported, recorder);
};

const writeLines = (file: string, values: readonly unknown[]): Promise<void> =>
  writeFile(file, values.map((value) => `${JSON.stringify(value)}\n`).join(''));
