import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { IDENTITY } from './identity-folder.js';

const folder = process.env[IDENTITY] ?? 'none';

const keysOfRun = (): readonly string[] =>
  readdirSync(folder)
    .filter((name) => /^rsa-\d+\.pem$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'));

const fresh = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

it('a file gets working keys of the run, of which the first ones differ', () => {
  const keys = Array.from({ length: 4 }, () => fresh(2_048));
  expect(new Set(keys).size).toBe(4);
  expect(keysOfRun()).toEqual(expect.arrayContaining(keys));
  const [key = ''] = keys;
  expect(verify('sha256', Buffer.from('x'), createPublicKey(key), sign('sha256', Buffer.from('x'), key))).toBe(true);
});

it('another key is made for the test that asks for it', () => {
  expect(keysOfRun()).not.toContain(fresh(1_024));
  const { publicKey } = generateKeyPairSync('ed25519');
  expect(publicKey.asymmetricKeyType).toBe('ed25519');
});
