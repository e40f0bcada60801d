import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  forgetPort,
  readConnection,
  readEmbeddedAddresses,
  writeConnection,
} from '../../../src/adapters/embedded-postgres/connection-file.js';
import { EmbeddedPostgresError } from '../../../src/adapters/embedded-postgres/error.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it('a folder before its first start has no addresses, nor has a path below a file', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  expect(await readEmbeddedAddresses(folder)).toBeUndefined();
  expect(await readEmbeddedAddresses(join(folder, 'missing'))).toBeUndefined();
  expect(await readEmbeddedAddresses(join(folder, 'file'))).toBeUndefined();
});

it('a folder whose server is being started has no address', async () => {
  const folder = temporaryFolder();
  await writeConnection(folder, { port: 5432, password: 'a', ownerPassword: 'b', servicePassword: 'c' });
  await forgetPort(folder);
  expect(await readEmbeddedAddresses(folder)).toBe('no_server');
  expect(await readConnection(folder)).toEqual({ port: 0, password: 'a', ownerPassword: 'b', servicePassword: 'c' });
});

it.each(['{"password":"secret-of-test"', 'null', '{}'])(
  'a damaged file of addresses is named in one line without its text: %s',
  async (text) => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'postgres-connection.json'), text);
    await expect(readEmbeddedAddresses(folder)).rejects.toThrow(
      new EmbeddedPostgresError(
        `postgres-connection.json in DATA_DIR ${folder} is damaged: restore it from a backup of the folder`,
      ),
    );
  },
);
