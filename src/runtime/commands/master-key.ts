import { addMasterKey } from '../../adapters/vault/key-file.js';
import { type Command, done, textFlag } from '../../cli/command.js';

/** Needs the file alone: in production it is mounted for reading, and made longer where it is kept. */
export const addMasterKeyCommand: Command = {
  name: 'master-key add',
  positionals: ['FILE'],
  summary: 'add a new generation to a master key file; nothing is sealed with it before master-key rotate',
  options: {
    generation: { type: 'string', help: 'its name, e.g. m3: beside one that was lost; then a missing FILE is made' },
  },
  changes: false,
  run: async ({ positionals: [file = ''], flags }) => {
    const generation = await addMasterKey(file, textFlag(flags, 'generation'));
    return done(
      `${generation} was added to ${file}: copy the file to where you keep its copy and to every machine, then nfse master-key rotate`,
      { generation },
    );
  },
};
