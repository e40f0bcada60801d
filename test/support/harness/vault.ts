import { type Keyring, type KeyringOptions, openKeyring } from '../../../src/adapters/vault/keyring.js';
import type { MasterKey } from '../../../src/adapters/vault/master-key.js';

/** The keyring of a process whose key file holds a copy of this list; the list is not empty. */
export const keyringOf = (
  keys: readonly MasterKey[],
  { db, clock }: Pick<KeyringOptions, 'db' | 'clock'>,
): Promise<Keyring> =>
  openKeyring({
    readFile: async () => {
      const [first, ...others] = keys;
      if (first === undefined) throw new Error('the key file cannot be read');
      return [first, ...others];
    },
    file: 'master.key',
    db,
    clock,
  });
