import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endServerNow } from '../../adapters/embedded-postgres/orphan.js';
import { badUsage, done, type Outcome, refused } from '../../cli/command.js';
import { timelineOf } from '../../cli/commands/invoice.js';
import { errorCode } from '../../lib/error-code.js';
import { proveFolder, writeWhole } from '../../lib/files.js';
import { type Config, readConfig, roles } from '../config/config.js';
import { createLogger } from '../config/logger.js';
import { systemClock } from '../engines/clock.js';
import { sessionOver } from '../operator/session.js';
import type { Service } from '../roles/parts.js';
import { startService } from '../service.js';
import { asDemoFailure, createDemoClient, DemoFailed, lookUntil, untilIssued } from './demo-client.js';
import { demoCompany } from './demo-company.js';
import {
  DEMO_KEY,
  DEMO_REQUEST,
  type DemoStage,
  type DemoStory,
  LOOKUP_AFTER_S,
  loseAnswer,
  showProof,
} from './demo-lost-answer.js';
import { makeDemoCompany } from './first-start.js';

const OUT = 'out';

type DemoOptions = { losesAnswer: boolean; write(text: string): void; interrupted: AbortSignal | undefined };

/** Runs the demo against a service in a throwaway data folder. After a signal it stops the service, removes the folder and throws. */
export const runDemo = async (env: NodeJS.ProcessEnv, options: DemoOptions): Promise<Outcome> => {
  const problem = options.losesAnswer ? undefined : await problemOfOut();
  if (problem !== undefined) return badUsage(problem);
  return await inThrowawayFolder('nfse-demo-', (dataDir) => runDemoIn(dataDir, env, options));
};

const problemOfOut = async (): Promise<string | undefined> => {
  try {
    await proveFolder(OUT);
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    // Another folder of a full disk would not help.
    if (code === undefined || code === 'ENOSPC') throw error;
    return `${resolve(OUT)}, where the demo saves its documents, takes no file (${code}): make it a folder that this user may write`;
  }
};

const runDemoIn = async (
  dataDir: string,
  env: NodeJS.ProcessEnv,
  { losesAnswer, write, interrupted }: DemoOptions,
): Promise<Outcome> => {
  const isolated = { PATH: env.PATH, PORT: '0', OPS_PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' };
  const parsed = readConfig({ ...isolated, LOOKUP_INTERVALS_S: `${LOOKUP_AFTER_S},60,120,300,600` });
  if ('problems' in parsed) return refused(parsed.problems.join('; '));
  const steps: DemoStep[] = [];
  const show = stopwatch(write, steps);
  let story: DemoStory;
  const { config } = parsed;
  const logger = createLogger(config.logLevel, 'stderr');
  const service = await startService({
    config,
    roles,
    clock: systemClock,
    simulatorProcess: true,
    warmThreads: true,
    logger,
    ...(interrupted === undefined ? {} : { stopAsked: interrupted }),
  });
  try {
    const stage = await openStage(service, config, { show, write, interrupted });
    const id = await (losesAnswer ? loseAnswer(stage) : walk(stage)).catch((error: unknown) => {
      throw asDemoFailure(error);
    });
    story = await showProof(id, stage);
    write('Everything above ran against the simulator: SIMULADO, no fiscal document was made.\n\n');
  } finally {
    await service.stop();
  }
  show('service stopped');
  return done('', { ...story, steps });
};

/** A line of the demo: seconds since its start, and what was done. */
type DemoStep = { at_s: number; step: string };

const openStage = async (
  service: Service,
  config: Config,
  { show, write, interrupted }: Pick<DemoStage, 'show' | 'write' | 'interrupted'>,
): Promise<DemoStage> => {
  show(`service ready on ${service.url}: PostgreSQL, authorizer simulator, projector, issuer, API`);
  const [key] = await makeDemoCompany(service, config, systemClock, ['test']);
  if (key === undefined) throw new DemoFailed('no test key was made');
  show(`company ${demoCompany().cnpj} registered, with a throwaway certificate and a test key`);
  const session = sessionOver(service.engines, config, systemClock);
  return {
    client: createDemoClient(service.url, key.key, interrupted),
    controlUrl: service.simulator?.controlUrl ?? '',
    storyOf: (id) => timelineOf(id, session),
    log: service.engines.log,
    interrupted,
    show,
    write,
  };
};

/** Takes an invoice from acceptance to cancellation, as a client would, and returns its id. Throws at the first result that is not as promised. */
const walk = async ({ client, show, interrupted }: DemoStage): Promise<string> => {
  const accepted = await client.issue(DEMO_REQUEST, DEMO_KEY);
  show(`POST /v1/nfse -> 202 ${accepted.status}, ${accepted.id}`);
  const issued = await untilIssued(client, accepted.id);
  show(`GET  /v1/nfse/{id} -> ${issued.status}, access key ${issued.access_key ?? ''}`);

  const saved = await saveDocuments(client, issued.id);
  show(`documents saved: ${saved.join(', ')}`);

  const canceling = await client.cancel(issued.id, { reason: 'other', description: 'Cancelamento de demonstração.' });
  show(`POST /v1/nfse/{id}/cancel -> 202, cancellation ${canceling.cancellation?.status ?? ''}`);
  const look = async () => {
    const seen = await client.get(issued.id);
    return seen.cancellation?.status === 'pending' ? undefined : seen;
  };
  const isPending = (): string => `the cancellation of ${issued.id} is still pending`;
  const canceled = await lookUntil(look, isPending, interrupted);
  if (canceled.status !== 'canceled')
    throw new DemoFailed(`the cancellation ended ${canceled.cancellation?.status ?? 'nowhere'}`);
  show(`GET  /v1/nfse/{id} -> ${canceled.status}, cancellation ${canceled.cancellation?.status ?? ''}`);
  return issued.id;
};

const saveDocuments = async (client: DemoStage['client'], id: string): Promise<readonly string[]> => {
  const saved: string[] = [];
  for (const format of ['xml', 'pdf'] as const) {
    const bytes = await client.download(id, format);
    const path = join(OUT, `nfse.${format}`);
    // A new file under the name: a link that is there may lead to a file that another user wants to see overwritten.
    await writeWhole(path, bytes);
    saved.push(`${resolve(path)} (${bytes.length} bytes)`);
  }
  return saved;
};

const stopwatch = (write: (text: string) => void, steps: DemoStep[]): ((text: string) => void) => {
  const started = performance.now();
  let last = started;
  return (text) => {
    const now = performance.now();
    steps.push({ at_s: Math.round(now - started) / 1000, step: text });
    write(
      `${((now - started) / 1000).toFixed(2).padStart(6)} s  ${`+${Math.round(now - last)} ms`.padStart(9)}  ${text}\n`,
    );
    last = now;
  };
};

/** A process that has just ended may have made a file while the folder was being removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

/** Gives `work` a data folder that is removed afterwards, also at an exit before `work` has ended; a database that runs there is ended then. */
const inThrowawayFolder = async <T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const removeAtExit = (): void => removeNow(folder);
  process.once('exit', removeAtExit);
  try {
    // When run as root, the database runs as another user, who must be able to pass through this folder.
    await chmod(folder, 0o711);
    return await work(folder);
  } finally {
    // A fault leaves the removal to the exit.
    await rm(folder, REMOVAL);
    process.removeListener('exit', removeAtExit);
  }
};

/** Nothing else tells of a fault: this process is at its end. */
const removeNow = (folder: string): void => {
  try {
    endServerNow(folder);
    rmSync(folder, REMOVAL);
  } catch (error) {
    process.stderr.write(`the folder ${folder} was not removed (${errorCode(error) ?? 'unknown fault'}): remove it\n`);
  }
};
