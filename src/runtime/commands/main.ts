import type { Command } from '../../cli/command.js';
import { apiCommands } from '../../cli/commands/api.js';
import { auditCommands, type OpenExaminer } from '../../cli/commands/audit.js';
import { backupCommand, restoreCommand } from '../../cli/commands/backup.js';
import { certificateCommands } from '../../cli/commands/certificate.js';
import { companyCommands } from '../../cli/commands/company.js';
import { completionCommand } from '../../cli/commands/completion.js';
import { doctorCommand } from '../../cli/commands/doctor.js';
import { eventCommands } from '../../cli/commands/events.js';
import { invoiceCommands } from '../../cli/commands/invoice.js';
import { importCommand } from '../../cli/commands/invoice-import.js';
import { invoiceViewCommands } from '../../cli/commands/invoice-views.js';
import { keyCommands } from '../../cli/commands/key.js';
import { giveUpCommand, masterKeyCommands } from '../../cli/commands/master-key.js';
import { municipalityCommands } from '../../cli/commands/municipality.js';
import { parkedCommands } from '../../cli/commands/parked.js';
import { privacyCommand } from '../../cli/commands/privacy.js';
import { projectionCommands } from '../../cli/commands/projections.js';
import { catalogCommands, registryCommand } from '../../cli/commands/reference-data.js';
import { runCommand } from '../../cli/run.js';
import type { Check, Session, SessionNeeds } from '../../cli/session.js';
import { jsonText } from '../../cli/terminal.js';
import { withoutApiKeys } from '../../domain/company/company.js';
import { printable, printableLine } from '../../lib/printable.js';
import {
  type Config,
  type ConfigOptions,
  type ConfigResult,
  ignoredParameterWarnings,
  misspeltVariables,
  namedAsSet,
  readConfig,
  readSimulatorConfig,
} from '../config/config.js';
import { programVersion } from '../config/program-version.js';
import { systemClock } from '../engines/clock.js';
import { createRunner, type Runner } from '../engines/runner.js';
import { type Output, openOutput } from './output.js';
import { serveCommand, simulatorCommand } from './serve.js';
import { addMasterKeyCommand, demoCommand, setupCommands } from './setup.js';
import { createInterruption } from './signals.js';

/** Commands about reference data that operators enter. */
export const referenceCommands: readonly Command[] = [
  ...catalogCommands,
  ...municipalityCommands,
  registryCommand,
  ...apiCommands,
  importCommand(async () => (await import('../../adapters/authorizer/documents.js')).readImportedNote),
];

type OtherConfigs = Partial<Readonly<Record<'ofSimulator' | 'withoutKey' | 'withKey', () => Config>>>;

/**
 * Returns all commands. Only commands that need the configuration call `config`; `nfse simulator` calls `ofSimulator`, commands that work without
 * the file of the master key call `withoutKey`, and `nfse serve`, which refuses a bad file before anything starts, calls `withKey`.
 */
export const allCommands = (
  env: NodeJS.ProcessEnv,
  config: () => Config,
  { ofSimulator = config, withoutKey = config, withKey = config }: OtherConfigs = {},
): readonly Command[] => {
  const commands: readonly Command[] = [
    serveCommand(withKey),
    simulatorCommand(ofSimulator),
    demoCommand(env),
    ...companyCommands,
    ...certificateCommands,
    ...keyCommands,
    ...referenceCommands,
    ...eventCommands,
    ...invoiceCommands,
    ...invoiceViewCommands,
    ...auditCommands(openExaminer),
    privacyCommand,
    ...projectionCommands,
    ...masterKeyCommands,
    addMasterKeyCommand(async () => (await import('./registered-generations.js')).registeredGenerations(withoutKey)),
    ...parkedCommands,
    backupCommand,
    doctorCommand,
    restoreCommand(async (...how) => (await import('../operator/backup.js')).restoreOf(withoutKey)(...how)),
    giveUpCommand(async (...what) => (await import('./give-up.js')).giveUpOf(config, systemClock)(...what)),
    ...setupCommands(withoutKey),
    completionCommand(() => commands),
  ];
  return commands;
};

const openExaminer: OpenExaminer = async () => {
  const [{ openExaminingThreads }, { examiningThreads, thisMachine }] = await Promise.all([
    import('../operator/examining-threads.js'),
    import('../config/machine.js'),
  ]);
  return openExaminingThreads(examiningThreads(thisMachine()));
};

/** Runs the program and returns its exit code. Every fault of a start ends in one line on stderr, or with `--json` in a document on stdout. */
export const main = async (argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const output = openOutput();
  const exit = await run(argv, env, output);
  return output.isCut() && exit === 0 ? 1 : exit;
};

const run = async (argv: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<number> => {
  const interruption = createInterruption();
  const terminal = {
    out: (text: string) => output.write(`${text}\n`),
    // A refusal repeats what was typed, which may be a key; stderr often goes into a log.
    err: (text: string) => void process.stderr.write(`${withoutApiKeys(namedAsSet(printable(text), env))}\n`),
    ifUnseen: output.ifUnseen,
    outIsTTY: process.stdout.isTTY,
    progress: process.stderr,
    untilInterrupted: interruption.untilInterrupted,
    // Opened on use: an open input would keep the process alive.
    get input() {
      return process.stdin;
    },
  };
  // As a refusal of a command: with --json a document on stdout. A code or a name in a line may come from a server or a changed log.
  const tellFault = (line: string, shown = printableLine(line)): void =>
    argv.includes('--json')
      ? terminal.out(jsonText({ error: withoutApiKeys(namedAsSet(line, env)) }))
      : terminal.err(shown);
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    tellFault(UNVERIFIED);
    return 2;
  }
  let isWarned = false;
  const usable = (read: ConfigResult): Config => {
    for (const { sent, meant } of isWarned ? [] : misspeltVariables(env))
      terminal.err(`warning: ${sent} is no variable of this program and is ignored; ${meant} is one`);
    for (const line of isWarned ? [] : ignoredParameterWarnings(env)) terminal.err(line);
    isWarned = true;
    if ('problems' in read) throw new ConfigurationUnusable(read.problems);
    return read.config;
  };
  const readOnce = (options: ConfigOptions): (() => Config) => {
    let parsed: ConfigResult | undefined;
    return () => {
      parsed ??= readConfig(env, options);
      return usable(parsed);
    };
  };
  const needed = readOnce({});
  let runner: Runner | undefined;
  const openEngines = async (needs: SessionNeeds | undefined): Promise<Session> => {
    // A database that this command starts would outlive the process.
    interruption.arm();
    // Loaded when a command opens engines: a help text needs none of this.
    const [{ openSession }, { createLogger, faultFields }, { readEmbeddedAddresses }, half, { refuseFileAsDataDir }] =
      await Promise.all([
        import('../operator/session.js'),
        import('../config/logger.js'),
        import('../../adapters/embedded-postgres/connection-file.js'),
        import('../../adapters/embedded-postgres/half-restored.js'),
        import('../../adapters/embedded-postgres/data-dir.js'),
      ]);
    const { dataDir, databaseUrl } = needed();
    if (databaseUrl === undefined) {
      refuseFileAsDataDir(dataDir);
      half.refuseHalfRestored(dataDir);
    }
    const mayMake = databaseUrl === undefined && needs?.onlyExisting !== true;
    if (mayMake && (await readEmbeddedAddresses(dataDir)) === undefined) terminal.err(emptyFolder(dataDir));
    const logger = createLogger(needed().logLevel, 'stderr');
    runner = createRunner((name, error) => logger.error({ msg: 'stopping failed', part: name, ...faultFields(error) }));
    const opened = await openSession(needed(), systemClock, logger, runner, needs);
    const checks: Session['checks'] = async (...asked) =>
      (await opened.checks(...asked)).map((check) => checkNamedAsSet(check, env));
    return { ...opened, checks };
  };
  let session: Promise<Session> | undefined;
  const open = (needs?: SessionNeeds): Promise<Session> => {
    session ??= openEngines(needs);
    return session;
  };
  try {
    const commands = allCommands(env, needed, {
      ofSimulator: () => usable(readSimulatorConfig(env)),
      withoutKey: readOnce({ keyMayBeMissing: true }),
      withKey: readOnce({ keyMustBeUsable: true }),
    });
    return await interruption.bounded(runCommand(argv, commands, open, terminal, programVersion()));
  } catch (error) {
    const interrupted = interruption.exit();
    if (interrupted !== undefined) {
      terminal.err('interrupted');
      return interrupted;
    }
    const { exit, line } = await faultOf(error);
    tellFault(line, error instanceof ConfigurationUnusable ? line : undefined);
    return exit;
  } finally {
    // What is being opened can be stopped only afterwards.
    await interruption.closing(Promise.resolve(session)).catch(() => undefined);
    await interruption.closing(runner?.stop() ?? Promise.resolve()).catch(() => undefined);
    interruption.end();
  }
};

const checkNamedAsSet = (check: Check, env: NodeJS.ProcessEnv): Check => {
  const { detail, cure } = check;
  return { ...check, detail: namedAsSet(detail, env), cure: cure === undefined ? undefined : namedAsSet(cure, env) };
};

const faultOf = async (error: unknown): Promise<{ exit: number; line: string }> => {
  if (error instanceof ConfigurationUnusable) return { exit: 2, line: error.message };
  return (await import('./startup-fault.js')).startupFault(error);
};

/** Libraries of the engines read this variable too, each in a different way, so nothing is started under it. */
const UNVERIFIED =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the verification of TLS: unset it, and name authorities by AUTHORIZER_CA_FILE, sslrootcert or tlsCAFile';

/** A terminal without the service's variables would otherwise show an empty database in silence. */
const emptyFolder = (dataDir: string): string =>
  `warning: DATA_DIR ${dataDir} holds no database yet, so this command makes an empty one there; for the data of a service, set DATA_DIR as that service has it`;

class ConfigurationUnusable extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}
