import { takeLock } from '../../../src/adapters/embedded-postgres/data-dir.js';
import { addMasterKey } from '../../../src/adapters/vault/key-file.js';

/** What `nfse master-key add FILE --generation NAME` does where no database is. */
export const addKey = (file: string, named?: string): Promise<string> => addMasterKey(file, { named, takeLock });
