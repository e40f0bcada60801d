import { join } from 'node:path';
import type { Mode } from '../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, isBefore } from '../domain/common/time.js';
import { makeFolders, syncFolder } from '../lib/files.js';
import { issueClientCertificate, openIdentities } from './authority.js';
import { createAuthorizerClock } from './clock.js';
import { startControl } from './control/server.js';
import { ENVIRONMENT_FACTS, type Environment, type World } from './environment.js';
import { startAuthorizer } from './http/server.js';
import type { Simulator, SimulatorOptions } from './options.js';
import { createSignerCheck } from './signer.js';
import { createCalls, createHidden } from './state/calls.js';
import { createFaults } from './state/faults.js';
import { lockFolder } from './state/folder-lock.js';
import { type KeptFrom, openLedger } from './state/ledger.js';
import { openRegistry } from './state/registry.js';
import { createTimers } from './timers.js';

/**
 * Simulates both environments of Sefin Nacional on one mutual TLS port, with a control port beside it (docs/simulator.md). Throws
 * `FolderInUse` when another simulator runs on the folder, `LedgerDamaged`, and the error of `listen` for a port in use.
 */
export const startSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const closers: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const step of closers.splice(0).reverse()) await step();
  };
  try {
    return await start(options, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
};

const start = async (
  options: SimulatorOptions,
  closers: (() => Promise<void> | void)[],
  close: () => Promise<void>,
): Promise<Simulator> => {
  const { folder, clock, host = '127.0.0.1' } = options;
  await makeFolders(folder, 0o700);
  const lock = await lockFolder(folder);
  closers.push(lock.release);
  const { authority, server } = await openIdentities(folder, options.serverNames ?? [], clock);
  const { testNoteSeconds = EIGHT_DAYS } = options;
  const authorizerClock = createAuthorizerClock(clock);
  // The earlier of both clocks: neither a note stamped by a clock set back nor one met by a clock set forward is old.
  const isAhead = () => isBefore(clock.now(), authorizerClock.now());
  const earlier = () => (isAhead() ? clock : authorizerClock).now();
  const later = { now: () => (isAhead() ? authorizerClock : clock).now() };
  const test = await openEnvironment(folder, 'test', () => addSeconds(earlier(), -testNoteSeconds));
  closers.push(test.ledger.close);
  const live = await openEnvironment(folder, 'live');
  closers.push(live.ledger.close);
  // The name of a new ledger file is on disk before a note is authorized, so that a power failure cannot remove the file.
  await syncFolder(folder);
  const timers = options.timers ?? createTimers();
  const clientAuthorities = [authority.certificatePem, ...(options.clientAuthoritiesPem ?? [])];

  const world: World = {
    environments: { test, live },
    clock: authorizerClock,
    strict: options.strict === true,
    tables: options.tables,
    signer: server,
    judgeSigner: createSignerCheck(clientAuthorities),
    issueClient: (request) => issueClientCertificate(folder, { ...request, clock: later }),
    faults: createFaults(),
    hidden: createHidden(),
    calls: createCalls(),
    timers,
  };
  const tls = { server, clientAuthorities, port: options.port, host, renegotiate: options.renegotiate === true };
  const { log = () => undefined, warn = log } = options;
  const authorizer = await startAuthorizer(world, tls, { log, warn });
  closers.push(authorizer.close, timers.close);
  const control = await startControl(world, options.controlPort);
  closers.push(control.close);

  const origin = `https://${host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${authorizer.port}`;
  const urls = { test: `${origin}${test.basePath}`, live: `${origin}${live.basePath}` };
  const controlUrl = `http://127.0.0.1:${control.port}`;
  log({ msg: 'simulator ready', urls, controlUrl });
  return { urls, controlUrl, caPem: authority.certificatePem, close };
};

/** Seconds: the seven days of a test invoice, and one day more. */
const EIGHT_DAYS = 8 * DAY_SECONDS;

const openEnvironment = async (folder: string, mode: Mode, keptFrom?: KeptFrom): Promise<Environment> => ({
  mode,
  ...ENVIRONMENT_FACTS[mode],
  registry: await openRegistry(join(folder, `registry-${mode}.json`)),
  ledger: await openLedger(join(folder, `ledger-${mode}.ndjson`), keptFrom),
});
