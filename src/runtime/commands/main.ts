import { readNote } from '../../adapters/authorizer/documents.js';
import type { Command } from '../../cli/command.js';
import { apiCommands } from '../../cli/commands/api.js';
import { auditCommands } from '../../cli/commands/audit.js';
import { backupCommand, restoreCommand } from '../../cli/commands/backup.js';
import { certificateCommands } from '../../cli/commands/certificate.js';
import { companyCommands } from '../../cli/commands/company.js';
import { doctorCommand } from '../../cli/commands/doctor.js';
import { eventCommands } from '../../cli/commands/events.js';
import { importCommand, invoiceCommands } from '../../cli/commands/invoice.js';
import { keyCommands } from '../../cli/commands/key.js';
import { giveUpCommand, masterKeyCommands } from '../../cli/commands/master-key.js';
import { municipalityCommands } from '../../cli/commands/municipality.js';
import { parkedCommands } from '../../cli/commands/parked.js';
import { privacyCommand } from '../../cli/commands/privacy.js';
import { projectionCommands } from '../../cli/commands/projections.js';
import { catalogCommands, registryCommand } from '../../cli/commands/reference-data.js';
import { runCommand } from '../../cli/run.js';
import type { Session, SessionNeeds } from '../../cli/session.js';
import { gzipBase64 } from '../../xml/packing.js';
import { type Config, readConfig } from '../config/config.js';
import { createLogger, faultFields } from '../config/logger.js';
import { programVersion } from '../config/program-version.js';
import { systemClock } from '../engines/clock.js';
import { createRunner } from '../engines/runner.js';
import { restoreOf } from '../operator/backup.js';
import { openSession } from '../operator/session.js';
import { demoCommand } from './demo.js';
import { addMasterKeyCommand, giveUpOf } from './master-key.js';
import { serveCommand, simulatorCommand } from './serve.js';
import { setupCommands } from './setup.js';
import { startupFault } from './startup-fault.js';

/** Commands about reference data that operators enter. */
export const referenceCommands: readonly Command[] = [
  ...catalogCommands,
  ...municipalityCommands,
  registryCommand,
  ...apiCommands,
  importCommand((xml) => readNote(gzipBase64(xml))),
];

/** Returns all commands. Only commands that need the configuration call `config`. */
export const allCommands = (env: NodeJS.ProcessEnv, config: () => Config): readonly Command[] => [
  serveCommand(config),
  simulatorCommand(config),
  demoCommand(env),
  ...companyCommands,
  ...certificateCommands,
  ...keyCommands,
  ...referenceCommands,
  ...eventCommands,
  ...invoiceCommands,
  ...auditCommands,
  privacyCommand,
  ...projectionCommands,
  ...masterKeyCommands,
  addMasterKeyCommand,
  ...parkedCommands,
  backupCommand,
  doctorCommand,
  restoreCommand(restoreOf(config)),
  giveUpCommand(giveUpOf(config, systemClock)),
  ...setupCommands(config),
];

/** Runs the program and returns its exit code. Every fault of a start ends in one line on stderr. */
export const main = async (argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const terminal = {
    out: (text: string) => void process.stdout.write(`${text}\n`),
    err: (text: string) => void process.stderr.write(`${text}\n`),
    progress: process.stderr,
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    terminal.err(UNVERIFIED);
    return 2;
  }
  const parsed = readConfig(env);
  const config = 'config' in parsed ? parsed.config : undefined;
  const needed = (): Config => {
    if (config === undefined) throw new ConfigurationUnusable('problems' in parsed ? parsed.problems : []);
    return config;
  };
  const logger = createLogger(config?.logLevel ?? 'info', 'stderr');
  const runner = createRunner((name, error) =>
    logger.error({ msg: 'stopping failed', part: name, ...faultFields(error) }),
  );
  let session: Promise<Session> | undefined;
  const open = (needs?: SessionNeeds): Promise<Session> => {
    session ??= openSession(needed(), systemClock, logger, runner, needs);
    return session;
  };
  try {
    return await runCommand(argv, allCommands(env, needed), open, terminal, programVersion());
  } catch (error) {
    const fault = error instanceof ConfigurationUnusable ? { exit: 2, line: error.message } : startupFault(error);
    terminal.err(fault.line);
    return fault.exit;
  } finally {
    await runner.stop();
  }
};

/** Libraries of the engines read this variable too, each in a different way, so nothing is started under it. */
const UNVERIFIED =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the verification of TLS: unset it, and name authorities by AUTHORIZER_CA_FILE, sslrootcert or tlsCAFile';

/** The reader of the output may close the pipe (`nfse ... | head`); the command still runs to its orderly end. */
const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};

/** Names every wrong variable in one message; nothing was started. */
class ConfigurationUnusable extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}
