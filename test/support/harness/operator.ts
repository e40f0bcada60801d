import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from '../../../src/cli/command.js';
import { runCommand } from '../../../src/cli/run.js';
import type { Session } from '../../../src/cli/session.js';
import type { ProgressStream } from '../../../src/cli/terminal.js';
import type { Clock } from '../../../src/ports/clock.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { openSession } from '../../../src/runtime/operator/session.js';
import { giveIdentity } from '../fixture/simulator-identity.js';
import { type FreshDatabase, freshDatabase } from '../postgres.js';

export type Operator = {
  folder: string;
  database: FreshDatabase;
  session: Session;
  run(...argv: string[]): Promise<{ exit: number; out: string; err: string }>;
  /** As `run`, with this text on the input. */
  runWithInput(input: string, ...argv: string[]): Promise<{ exit: number; out: string; err: string }>;
  runJson(...argv: string[]): Promise<{ exit: number; json: Record<string, unknown> }>;
  close(): Promise<void>;
};

/**
 * An operator with these commands, at a database and in a folder of the test's own; `progress` is shown what they make. No projector runs, so doctor
 * finds read models that lag 30 s after the first event, unless the clock stands still.
 */
export const openOperator = async (
  commands: readonly Command[],
  progress?: ProgressStream,
  env: NodeJS.ProcessEnv = {},
  clock: Clock = systemClock,
): Promise<Operator> => {
  const runner = createRunner(() => undefined);
  const folder = await mkdtemp(join(tmpdir(), 'nfse-operator-'));
  await giveIdentity(join(folder, 'simulator'));
  const database = await freshDatabase();
  const parsed = readConfig({
    DATA_DIR: folder,
    DATABASE_URL: database.connectionString,
    MASTER_KEY_FILE: join(folder, 'master.key'),
    ...env,
  });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const config = { ...parsed.config, masterKeyMayBeMade: true };
  const session = await openSession(config, clock, createLogger('silent', 'stderr'), runner);

  const runWithInput = async (input: string, ...argv: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = {
      out: (text: string) => void out.push(text),
      err: (text: string) => void err.push(text),
      ...(progress === undefined ? {} : { progress }),
      input: Readable.from([input]),
    };
    const exit = await runCommand(argv, commands, async () => session, terminal);
    return { exit, out: out.join('\n'), err: err.join('\n') };
  };
  const run = (...argv: string[]) => runWithInput('', ...argv);
  return {
    folder,
    database,
    session,
    run,
    runWithInput,
    runJson: async (...argv) => {
      const { exit, out } = await run(...argv, '--json');
      return { exit, json: JSON.parse(out) as Record<string, unknown> };
    },
    close: async () => {
      await runner.stop();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
