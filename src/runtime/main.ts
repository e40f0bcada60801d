import { readNote } from '../adapters/authorizer/documents.js';
import type { Command } from '../cli/command.js';
import { apiCommands } from '../cli/commands/api.js';
import { auditCommands } from '../cli/commands/audit.js';
import { backupCommands } from '../cli/commands/backup.js';
import { catalogCommands } from '../cli/commands/catalog.js';
import { certificateCommands } from '../cli/commands/certificate.js';
import { companyCommands } from '../cli/commands/company.js';
import { doctorCommands } from '../cli/commands/doctor.js';
import { eventCommands } from '../cli/commands/events.js';
import { importCommands } from '../cli/commands/import.js';
import { invoiceCommands } from '../cli/commands/invoice.js';
import { invoiceSearchCommands } from '../cli/commands/invoice-search.js';
import { keyCommands } from '../cli/commands/key.js';
import { masterKeyCommands } from '../cli/commands/master-key.js';
import { giveUpCommands } from '../cli/commands/master-key-give-up.js';
import { municipalityCommands } from '../cli/commands/municipality.js';
import { parkedCommands } from '../cli/commands/parked.js';
import { privacyCommands } from '../cli/commands/privacy.js';
import { projectionCommands } from '../cli/commands/projections.js';
import { registryCommands } from '../cli/commands/registry.js';
import { resolveCommands } from '../cli/commands/resolve.js';
import { restoreCommands } from '../cli/commands/restore.js';
import { usageCommands } from '../cli/commands/usage.js';
import { runCommand } from '../cli/run.js';
import type { Session, SessionNeeds } from '../cli/session.js';
import { shippedCatalogue } from '../tables/catalogue.js';
import { municipalityByCode } from '../tables/municipalities.js';
import { readTable } from '../tables/tsv.js';
import { gzipBase64 } from '../xml/transport.js';
import { systemClock } from './clock.js';
import { demoCommand } from './commands/demo.js';
import { giveUpOf } from './commands/give-up.js';
import { addMasterKeyCommand } from './commands/master-key.js';
import { restoreOf } from './commands/restore.js';
import { serveCommand } from './commands/serve.js';
import { setupCommands } from './commands/setup.js';
import { simulatorCommand } from './commands/simulator.js';
import { type Config, readConfig } from './config.js';
import { createLogger, faultFields } from './logger.js';
import { programVersion } from './program-version.js';
import { createRunner } from './runner.js';
import { openSession } from './session.js';
import { startupFault } from './startup-fault.js';

const shippedCnaes = (): readonly string[] => [
  ...new Set(readTable('catalogue.tsv', ['cnae']).map(({ cnae }) => cnae)),
];

/** Those about what operators enter, with the national tables that their input is checked against. */
export const referenceCommands: readonly Command[] = [
  ...catalogCommands({
    ...shippedCatalogue,
    get cnaes() {
      return shippedCnaes();
    },
  }),
  ...municipalityCommands(municipalityByCode),
  ...registryCommands,
  ...apiCommands,
  ...importCommands((xml) => readNote(gzipBase64(xml))),
];

const operatorCommands: readonly Command[] = [
  ...companyCommands,
  ...usageCommands,
  ...certificateCommands,
  ...keyCommands,
  ...referenceCommands,
  ...eventCommands,
  ...invoiceCommands,
  ...invoiceSearchCommands,
  ...resolveCommands(process.stderr),
  ...auditCommands,
  ...privacyCommands(process.stderr),
  ...projectionCommands(process.stderr),
  ...masterKeyCommands(process.stderr),
  addMasterKeyCommand,
  ...parkedCommands,
  ...backupCommands(process.stderr),
  ...doctorCommands,
];

/** Every command there is; `config` is asked for by those that need one. */
export const allCommands = (env: NodeJS.ProcessEnv, config: () => Config): readonly Command[] => [
  ...[serveCommand(config), simulatorCommand(config), demoCommand(env)],
  ...operatorCommands,
  ...restoreCommands(restoreOf(config), process.stderr),
  ...giveUpCommands(giveUpOf(config, systemClock)),
  ...setupCommands(config),
];

/** argv and environment to exit code; everything that can go wrong at a start ends in one clear line. */
export const main = async (argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const terminal = {
    out: (text: string) => void process.stdout.write(`${text}\n`),
    err: (text: string) => void process.stderr.write(`${text}\n`),
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

/** Libraries of engines read the variable too, each in its own way, so nothing is begun under it. */
const UNVERIFIED =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 lets TLS believe anybody: unset it, and name authorities by AUTHORIZER_CA_FILE, sslrootcert or tlsCAFile';

/** Whoever reads may stop reading (`nfse … | head`): the work goes on to its orderly end. */
const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};

/** Every wrong variable in one message; nothing was started. */
class ConfigurationUnusable extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}
