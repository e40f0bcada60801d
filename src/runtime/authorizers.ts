import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createAuthorizer } from '../adapters/authorizer/client.js';
import type { Reader } from '../adapters/authorizer/reading.js';
import { readTrustRoots, sefinTrustRoots } from '../adapters/authorizer/trust-roots.js';
import type { Mode } from '../domain/shared/ids.js';
import type { Authorizer, Caller } from '../ports/authorizer.js';
import type { CompanyCertificate } from '../ports/certificate-vault.js';
import type { Clock } from '../ports/clock.js';
import { isSimulatorAuthority, type Simulator, startSimulator } from '../simulator/start.js';
import { serviceCodeDescription, shippedCatalogue } from '../tables/catalogue.js';
import { isCustomerCountry } from '../tables/foreign-trade.js';
import { municipalityByCode } from '../tables/municipalities.js';
import type { Config } from './config.js';
import { SPEC_WINDOWS } from './environment.js';
import { isLoopback } from './environment-combinations.js';
import type { Logger } from './logger.js';
import { openReadingThreads } from './reading-threads.js';
import type { Runner } from './runner.js';
import { writeSimulatorAddress } from './simulator-address.js';

export const modes: readonly Mode[] = ['live', 'test'];

export const simulatorFolder = (config: Config): string => join(config.dataDir, 'simulator');

/** Modes without an address: a simulator in this process answers for them. */
export const modesWithoutAuthorizer = (config: Config): readonly Mode[] =>
  modes.filter((mode) => config.authorizer[mode] === undefined);

/** Modes of a simulator, here or elsewhere: nothing that is authorized there is a fiscal document. */
export const simulatedModes = (config: Config): readonly Mode[] =>
  modes.filter((mode) => config.authorizer[mode] === undefined || config.simulator.elsewhere.includes(mode));

/** Its own program or inside the service: the same folder, so that a restart forgets nothing. */
export const openSimulator = async (
  config: Config,
  clock: Clock,
  logger: Logger,
  runner: Runner,
): Promise<Simulator> => {
  const { host, port, controlPort, clientCaFile, renegotiate } = config.simulator;
  const simulator = await startSimulator({
    folder: simulatorFolder(config),
    host,
    // Who calls from another machine calls it by this machine's name.
    serverNames: isLoopback(host) ? [] : [hostname()],
    port,
    controlPort,
    renegotiate,
    clock,
    testNoteSeconds: Math.max(config.limits.testRetentionSeconds, SPEC_WINDOWS.TEST_RETENTION_S) + A_DAY,
    tables: {
      serviceCode: (code) => {
        const description = serviceCodeDescription(code);
        return description === undefined ? undefined : { description };
      },
      isNbs: shippedCatalogue.isNbs,
      municipality: municipalityByCode,
      isForeignCountry: isCustomerCountry,
    },
    ...(clientCaFile === undefined ? {} : { extraClientCaPem: await readFile(clientCaFile, 'utf8') }),
    log: (line) => logger.debug({ msg: 'simulator', ...line }),
  });
  runner.onStop('simulator', () => simulator.close());
  await writeSimulatorAddress(simulatorFolder(config), simulator.urls);
  return simulator;
};

/**
 * Trusted beside the public roots, by every client of the national system in this mode. A simulator's authority, its key on a disk
 * of ours, is believed for simulated modes and for addresses of this machine alone, also where AUTHORIZER_CA_FILE holds it. Throws
 * `TrustRootsUnusable`.
 */
export const trustRoots = async (
  config: Config,
  simulator: Pick<Simulator, 'caPem'> | undefined,
  mode: Mode,
): Promise<readonly string[]> => {
  const isOurs = config.authorizer[mode] === undefined && simulator !== undefined;
  const named = config.authorizerCaFile === undefined ? [] : await readTrustRoots(config.authorizerCaFile);
  const isSimulated = simulatedModes(config).includes(mode) || isOfThisMachine(config.authorizer[mode]);
  return [
    ...sefinTrustRoots(),
    ...(isOurs ? [simulator.caPem] : []),
    ...named.filter((root) => isSimulated || !isSimulatorAuthority(root)),
  ];
};

/** The national system is never on this machine: what answers here is a simulator, whose authority was named by an operator. */
const isOfThisMachine = (address: string | undefined): boolean =>
  address !== undefined && isLoopback(new URL(address).hostname.replace(/^\[|\]$/g, ''));

export type AuthorizerParts = {
  config: Config;
  clock: Clock;
  runner: Runner;
  simulator: Pick<Simulator, 'urls' | 'caPem'> | undefined;
  certificateOf(caller: Caller): Promise<CompanyCertificate | undefined>;
};

/** One client for each mode, which believe different servers; a mode that this process cannot reach answers that it was not reached. */
export const openAuthorizer = async (parts: AuthorizerParts): Promise<Authorizer> => {
  const read = openReadingThreads(parts.runner);
  const clients = { live: await openClient(parts, read, 'live'), test: await openClient(parts, read, 'test') };
  return {
    sendDps: async (caller, bytes, deadlineAt) =>
      (await clients[caller.mode]?.sendDps(caller, bytes, deadlineAt)) ?? notReached,
    findByDps: async (caller, id, until) => (await clients[caller.mode]?.findByDps(caller, id, until)) ?? notAsked,
    findByAccessKey: async (caller, key) => (await clients[caller.mode]?.findByAccessKey(caller, key)) ?? notAsked,
    sendCancellation: async (caller, key, bytes, deadlineAt) =>
      (await clients[caller.mode]?.sendCancellation(caller, key, bytes, deadlineAt)) ?? notReached,
    findCancellation: async (caller, key, until) =>
      (await clients[caller.mode]?.findCancellation(caller, key, until)) ?? notAsked,
  };
};

const openClient = async (
  { config, clock, runner, simulator, certificateOf }: AuthorizerParts,
  read: Reader,
  mode: Mode,
): Promise<Authorizer | undefined> => {
  const { address, trustRootsPem } = await authorizerAddress(config, simulator, mode);
  if (address === undefined) return undefined;
  const client = createAuthorizer({
    addresses: { live: address, test: address },
    trustRootsPem,
    connectTimeoutMs: config.authorizerConnectTimeoutMs,
    timeoutMs: config.limits.sendSeconds * 1000,
    certificateOf,
    now: () => clock.now(),
    read,
  });
  runner.onStop(`authorizer connections of ${mode} mode`, () => client.close());
  return client;
};

/** Where a mode is asked, and whom to believe that it is there; a mode without an address is not reached from here. */
export const authorizerAddress = async (
  config: Config,
  simulator: AuthorizerParts['simulator'],
  mode: Mode,
): Promise<{ address: string | undefined; trustRootsPem: readonly string[] }> => ({
  address: config.authorizer[mode] ?? simulator?.urls[mode],
  trustRootsPem: await trustRoots(config, simulator, mode),
});

/** Seconds by which a note of the simulator outlives its test invoice. */
const A_DAY = 86_400;

const reason = 'this process has no authorizer for the mode';
const notReached = { kind: 'not_sent', reason, codes: [], certificateRefused: false } as const;
const notAsked = { kind: 'inconclusive', reason } as const;
