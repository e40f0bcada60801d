import { createAuthorizer } from '../../adapters/authorizer/client.js';
import { type Reader, type ReadingAnswer, type ReadingJob, readInThreads } from '../../adapters/authorizer/reading.js';
import { sefinTrustRoots } from '../../adapters/authorizer/trust-roots.js';
import type { Mode } from '../../domain/common/ids.js';
import { entryFile } from '../../lib/entry-file.js';
import { createThreadPool } from '../../lib/thread-pool.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import { isSimulatorAuthority } from '../../simulator/authority.js';
import type { Simulator } from '../../simulator/options.js';
import { gzipBase64 } from '../../xml/packing.js';
import { SAMPLE_NOTE } from '../../xml/sample-note.js';
import { type Config, isSimulatorsMode } from '../config/config.js';
import { readingThreads, thisMachine } from '../config/machine.js';
import type { CertificateOf } from './companies.js';
import type { Runner } from './runner.js';

/**
 * Certificate authorities that all clients of the national system trust in this mode, beside the public roots. The authority of a simulator is
 * trusted for simulated modes and addresses of this machine only, also when AUTHORIZER_CA_FILE holds it, because its key lies on a local disk.
 */
export const trustRoots = (
  config: Config,
  simulator: Pick<Simulator, 'caPem'> | undefined,
  mode: Mode,
): readonly string[] => {
  const isOurs = config.authorizer[mode] === undefined && simulator !== undefined;
  const isSimulated = isSimulatorsMode(config, mode);
  return [
    ...sefinTrustRoots(),
    ...(isOurs ? [simulator.caPem] : []),
    ...config.authorizerRoots.filter((root) => isSimulated || !isSimulatorAuthority(root)),
  ];
};

type AuthorizerParts = {
  config: Config;
  clock: Clock;
  runner: Runner;
  simulator: Pick<Simulator, 'urls' | 'caPem'> | undefined;
  certificateOf: CertificateOf;
  /** Given where answers are usual: the threads that read them then start as soon as the service is ready. */
  whenReady?: WhenReady | undefined;
};

/** Takes what is to be done once the service is ready. */
export type WhenReady = (task: () => Promise<void>) => void;

/** Returns an authorizer with one client per mode, each with its own trust roots. A mode without an address answers that it was not reached. */
export const openAuthorizer = (parts: AuthorizerParts): Authorizer => {
  const read = openReadingThreads(parts.runner, { whenReady: parts.whenReady });
  return byMode({ live: openClient(parts, read, 'live'), test: openClient(parts, read, 'test') });
};

/** Gives each call to the client of its mode. */
export const byMode = (clients: Readonly<Record<Mode, Authorizer>>): Authorizer => ({
  sendDps: (caller, ...rest) => clients[caller.mode].sendDps(caller, ...rest),
  findByDps: (caller, ...rest) => clients[caller.mode].findByDps(caller, ...rest),
  findByAccessKey: (caller, ...rest) => clients[caller.mode].findByAccessKey(caller, ...rest),
  sendCancellation: (caller, ...rest) => clients[caller.mode].sendCancellation(caller, ...rest),
  findCancellation: (caller, ...rest) => clients[caller.mode].findCancellation(caller, ...rest),
});

const openClient = (
  { config, clock, runner, simulator, certificateOf }: AuthorizerParts,
  read: Reader,
  mode: Mode,
): Authorizer => {
  const { address, trustRootsPem } = authorizerAddress(config, simulator, mode);
  if (address === undefined) return notReached;
  const client = createAuthorizer({
    address,
    distribution: adnAddress(config, simulator, mode, 'contribuintes'),
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

/** The address of a mode and the authorities trusted there; an undefined address means that this process cannot reach the mode. */
export const authorizerAddress = (
  config: Config,
  simulator: AuthorizerParts['simulator'],
  mode: Mode,
): { address: string | undefined; trustRootsPem: readonly string[] } => ({
  address: config.authorizer[mode] ?? simulator?.urls[mode],
  trustRootsPem: trustRoots(config, simulator, mode),
});

/** The services of the ADN that are called here, by the first part of their paths. */
export type AdnService = 'parametrizacao' | 'contribuintes';

/** The address of a service of the ADN: as configured, else beside this process's simulator or the authorizer; undefined without either. */
export const adnAddress = (
  config: Pick<Config, 'parameters' | 'distribution' | 'authorizer' | 'simulator'>,
  simulator: Pick<Simulator, 'urls'> | undefined,
  mode: Mode,
  service: AdnService,
): string | undefined => {
  const configured = service === 'parametrizacao' ? config.parameters[mode] : config.distribution[mode];
  if (configured !== undefined) return configured;
  const address = config.authorizer[mode];
  if (address === undefined) return simulator && besideSimulator(simulator.urls[mode], service);
  return config.simulator.elsewhere.includes(mode)
    ? besideSimulator(address, service)
    : besideAuthorizer(address, service);
};

/** A simulator has both environments on one host, with different paths: `/test/SefinNacional`, `/test/parametrizacao`. */
const besideSimulator = (address: string, service: AdnService): string => address.replace(/\/[^/]*$/, `/${service}`);

/** `https://adn.<rest>/parametrizacao` for `sefin.<rest>`, otherwise `/parametrizacao` on the authorizer's host. */
const besideAuthorizer = (authorizer: string, service: AdnService): string => {
  const { host } = new URL(authorizer);
  return `https://${host.replace(/^sefin\./, 'adn.')}/${service}`;
};

const reason = 'this process has no authorizer for the mode';
const notSent = { kind: 'not_sent', reason, codes: [] } as const;
const notLookedUp = { kind: 'inconclusive', reason } as const;

const notReached: Authorizer = {
  sendDps: async () => notSent,
  findByDps: async () => notLookedUp,
  findByAccessKey: async () => notLookedUp,
  sendCancellation: async () => notSent,
  findCancellation: async () => notLookedUp,
};

/** Reading a note takes milliseconds; the rest is for a machine whose cores are all busy. */
const READ_WITHIN_MS = 20_000;

/** All answers share one queue: the issuers bound how many calls are under way. */
const OWNER = 'answers';

/** A note without a signature, so that a thread loads and uses everything that reads a document. */
const WARM_UP: ReadingJob<'note'> = {
  name: 'note',
  expected: { accessKey: '', absentCodes: [] },
  exchange: {
    kind: 'answered',
    status: 200,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ nfseXmlGZipB64: gzipBase64(Buffer.from(SAMPLE_NOTE)) })),
  },
};

/** Reads the authorizer's answers outside the event loop (ADR 31), in threads that start in `whenReady`, else when first needed. */
export const openReadingThreads = (
  runner: Pick<Runner, 'onStop'>,
  {
    file = entryFile('../../adapters/authorizer/reading-thread', import.meta.url),
    timeoutMs = READ_WITHIN_MS,
    startMs,
    whenReady,
  }: { file?: URL; timeoutMs?: number; startMs?: number; whenReady?: WhenReady | undefined } = {},
): Reader => {
  const { workers, heapMb } = readingThreads(thisMachine());
  const pool = createThreadPool<ReadingJob, ReadingAnswer>({
    what: 'answers to be read',
    file,
    workers,
    waitMs: 2 * READ_WITHIN_MS,
    timeoutMs,
    startMs,
    heapMb,
  });
  runner.onStop('reading threads', () => pool.close());
  whenReady?.(() => pool.warm(WARM_UP));
  return readInThreads((job) => pool.run(OWNER, job));
};
