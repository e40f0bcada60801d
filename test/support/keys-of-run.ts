import crypto, { createPrivateKey, createPublicKey } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { IDENTITY } from './identity-folder.js';

/** More than any test needs side by side; the next key of a file is its first again. */
const KEYS = 24;
const BITS = 2_048;

type Generate = (type: string, options: object) => unknown;

/** With `isolate: false` the files of a process run this one after another. */
const replaced = crypto as unknown as { generateKeyPairSync: Generate & { original?: Generate } };
const generate: Generate = replaced.generateKeyPairSync.original ?? replaced.generateKeyPairSync;

/** The RSA key of this number. The first worker that asks makes the key, and all files of the run share it. */
const keyOfRun = (folder: string, number: number): string => {
  const file = join(folder, `rsa-${number}.pem`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const privateKeyEncoding = { type: 'pkcs8', format: 'pem' };
  const { privateKey } = generate('rsa', { modulusLength: BITS, privateKeyEncoding }) as { privateKey: string };
  const own = `${file}.${process.pid}`;
  writeFileSync(own, privateKey, { mode: 0o600 });
  try {
    // Another worker may have been faster: a file that stands is never replaced.
    linkSync(own, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(own, { force: true });
  }
  return readFileSync(file, 'utf8');
};

const isUsual = (type: string, options: object): boolean =>
  type === 'rsa' &&
  Object.entries(options).every(([name, value]) =>
    name === 'modulusLength' ? value === BITS : name === 'publicExponent' && value === 65_537,
  );

/**
 * Gives the tests of a file RSA keys that the run has made before: a fresh key of 2048 bits costs a tenth of a second of processor time or more, and
 * the tests of a run ask for hundreds. The first keys that a file asks for differ from each other. Processes that a test starts make their own.
 */
const shareKeys = (folder: string): void => {
  let asked = 0;
  const shared: Generate = (type, options) => {
    if (!isUsual(type, options)) return generate(type, options);
    const privateKey = createPrivateKey(keyOfRun(folder, asked % KEYS));
    asked += 1;
    return { privateKey, publicKey: createPublicKey(privateKey) };
  };
  replaced.generateKeyPairSync = Object.assign(shared, { original: generate });
  syncBuiltinESMExports();
};

const folder = process.env[IDENTITY];
if (folder !== undefined) shareKeys(folder);
