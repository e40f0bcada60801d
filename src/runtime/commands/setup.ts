import { readFile } from 'node:fs/promises';
import { EventStoreUrlInvalid } from '../../adapters/eventlog-eventstoredb/address.js';
import { badUsage, type Command, done, refused, textFlag } from '../../cli/command.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { makeEngineSecrets, SecretsIncomplete } from '../engine-secrets.js';
import { setupDatabase } from './setup-database.js';

const secrets: Command = {
  name: 'setup secrets',
  positionals: ['FOLDER'],
  summary: 'make the secrets of compose.yaml that are missing; none is shown or changed',
  options: { simulator: { type: 'string', help: "the simulator's folder, whose authority the service is to trust" } },
  changes: false,
  run: async ({ positionals: [folder = ''], flags }) => {
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
  positionals: [],
  summary: 'make the user of EVENTSTORE_URL, or renew its password, and let it read the whole log',
  options: { 'admin-password-file': { type: 'string', help: 'a file that holds the password of admin; required' } },
  changes: false,
  run: async ({ flags }) => {
    const url = config().eventStoreUrl;
    if (url === undefined) return badUsage('EVENTSTORE_URL is not set');
    const file = textFlag(flags, 'admin-password-file');
    if (file === undefined) return badUsage('--admin-password-file is required');
    const password = await readFile(file, 'utf8').catch(() => undefined);
    if (password === undefined) return badUsage(`${file} cannot be read`);
    const { AccountNotPrepared, prepareAccount } = await import('../../adapters/eventlog-eventstoredb/account.js');
    try {
      const outcome = await prepareAccount(url, password.trim());
      return done(`the user of EVENTSTORE_URL is ${outcome} and may read the whole log`, { user: outcome });
    } catch (error) {
      if (error instanceof EventStoreUrlInvalid) return badUsage(`EVENTSTORE_URL: ${error.message}`);
      if (error instanceof AccountNotPrepared) return { exit: 3, text: error.message, json: { error: error.message } };
      throw error;
    }
  },
});

/** What the one-shot services of compose.yaml run. */
export const setupCommands = (config: () => Config): readonly Command[] => [
  secrets,
  eventStore(config),
  setupDatabase(config),
];
