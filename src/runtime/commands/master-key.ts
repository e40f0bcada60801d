import { addMasterKey } from '../../adapters/vault/key-file.js';
import { type Command, done } from '../../cli/command.js';

/** Needs the file alone: in production it is mounted for reading, and made longer where it is kept. */
export const addMasterKeyCommand: Command = {
  name: 'master-key add',
  positionals: ['FILE'],
  summary: 'add a new generation to a master key file; nothing is sealed with it before master-key rotate',
  options: {},
  changes: false,
  run: async ({ positionals: [file = ''] }) => {
    const generation = await addMasterKey(file);
    return done(
      `${generation} was added to ${file}: copy the file to where you keep its copy and to every machine, then nfse master-key rotate`,
      { generation },
    );
  },
};
