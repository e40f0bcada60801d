import { existsSync } from 'node:fs';
import { badUsage, type Command, done, refused, textFlag } from '../../cli/command.js';
import { readOperatorText } from '../../cli/flags.js';
import { AddressInvalid } from '../../ports/engine-address.js';
import type { Config } from '../config/config.js';
import { systemClock } from '../engines/clock.js';

// What a command works with is loaded when that command runs: a help text needs no engine.

export const demoCommand = (env: NodeJS.ProcessEnv): Command => ({
  name: 'demo',
  summary: 'watch one invoice go the whole way, in a throwaway data folder',
  options: {
    'lost-answer': { help: "lose the authorizer's answer to the send, and watch the recovery" },
  },
  changes: false,
  run: async ({ flags, terminal }) => {
    const interrupted = terminal.untilInterrupted?.();
    const { runDemo } = await import('./demo.js');
    // With --json stdout holds the document alone.
    const stream = flags.json === true ? process.stderr : process.stdout;
    const write = (text: string): void => void stream.write(text);
    return await runDemo(env, { losesAnswer: flags['lost-answer'] === true, write, interrupted });
  },
});

const secrets: Command = {
  name: 'setup secrets',
  positionals: ['FOLDER'],
  summary: 'make the secrets of compose.yaml that are missing; none is shown or changed',
  options: { simulator: { value: 'FOLDER', help: "the simulator's folder, whose authority the service is to trust" } },
  changes: false,
  run: async ({ positionals: [folder = ''], flags }) => {
    const { makeEngineSecrets, SecretsIncomplete } = await import('./engine-secrets.js');
    try {
      const made = await makeEngineSecrets(folder, textFlag(flags, 'simulator'), systemClock);
      return done(made.length === 0 ? 'every secret is there' : `made: ${made.join(', ')}`, { made });
    } catch (error) {
      if (error instanceof SecretsIncomplete) return refused(error.message);
      throw error;
    }
  },
};

const eventStore = (config: () => Config): Command => ({
  name: 'setup eventstore',
  summary: 'make the user of EVENTSTORE_URL, or renew its password, and let it read the whole log',
  options: {
    'admin-password-file': { value: 'FILE', help: 'a file that holds the password of admin', required: true },
  },
  changes: false,
  run: async ({ flags }) => {
    const url = config().eventStoreUrl;
    if (url === undefined) return badUsage('EVENTSTORE_URL is not set');
    const read = await readOperatorText(textFlag(flags, 'admin-password-file') ?? '');
    if ('problem' in read) return badUsage(read.problem);
    const { AccountNotPrepared, prepareAccount } = await import('../../adapters/eventlog-eventstoredb/account.js');
    try {
      const outcome = await prepareAccount(url, read.text.trim());
      return done(`the user of EVENTSTORE_URL is ${outcome} and may read the whole log`, { user: outcome });
    } catch (error) {
      if (error instanceof AddressInvalid) return badUsage(`EVENTSTORE_URL: ${error.message}`);
      if (error instanceof AccountNotPrepared) return { exit: 3, text: error.message, json: { error: error.message } };
      throw error;
    }
  },
});

const database = (config: () => Config): Command => ({
  name: 'setup database',
  summary: 'make the steps of the schema; with an administrator also the roles, the database and their rights',
  options: {
    'admin-url-file': { value: 'FILE', help: 'a file that holds the address of an administrator of the server' },
  },
  changes: false,
  run: async ({ flags, terminal }) => {
    const { setupDatabase } = await import('./setup-database.js');
    return await setupDatabase(config(), textFlag(flags, 'admin-url-file'), terminal.err);
  },
});

/** The commands that the one-shot services of compose.yaml run. */
export const setupCommands = (config: () => Config): readonly Command[] => [
  secrets,
  eventStore(config),
  database(config),
];

/** Needs the file alone, which is edited where its original is kept. `registered`: generations of the database, whose names are never used again. */
export const addMasterKeyCommand = (registered: () => Promise<readonly { generation: string }[]>): Command => ({
  name: 'master-key add',
  positionals: ['FILE'],
  summary: 'add a new generation to a master key file; nothing is sealed with it before master-key rotate',
  options: {
    generation: { value: 'NAME', help: 'its name, e.g. m3: beside one that was lost; then a missing FILE is made' },
  },
  changes: false,
  run: async ({ positionals: [file = ''], flags }) => {
    const [{ addMasterKey }, { takeLock }] = await Promise.all([
      import('../../adapters/vault/key-file.js'),
      import('../../adapters/embedded-postgres/data-dir.js'),
    ]);
    const named = textFlag(flags, 'generation');
    // The start, or a give-up, seals with the only key of a new file: a rotation would be refused.
    const next = existsSync(file) ? ', then nfse master-key rotate' : '';
    const generation = await addMasterKey(
      file,
      named === undefined ? { registered: await registered(), takeLock } : { named, takeLock },
    );
    return done(
      `${generation} was added to ${file}: copy the file to where you keep its copy and to every machine${next}`,
      { generation },
    );
  },
});
