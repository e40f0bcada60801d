import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExportSigner } from '../../../src/adapters/vault/export-signer.js';
import type { Keyring } from '../../../src/adapters/vault/keyring.js';
import { rotateMasterKey } from '../../../src/adapters/vault/rotation.js';
import { isSignedBy } from '../../../src/app/audit/manifest.js';
import { exportKeyCheck } from '../../../src/runtime/operator/checks.js';
import { keyringOf } from '../../support/harness/vault.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const m1 = { generation: 'm1', key: Buffer.alloc(32, 7) };
const m2 = { generation: 'm2', key: Buffer.alloc(32, 9) };
const clock = { now: () => '2026-11-21T12:00:00.000Z' };

describeWithPostgres('the key that signs exports', () => {
  let database: FreshDatabase;
  let keyring: Keyring;
  const file = [m1];
  beforeAll(async () => {
    database = await freshDatabase();
    keyring = await keyringOf(file, { db: database.pool, clock });
  });
  afterAll(() => database.close());
  const signerOf = (keys: Keyring) => createExportSigner(database.pool, keys, clock);
  const sealed = async (): Promise<readonly string[]> =>
    (await database.pool.query<{ sealed: string }>('select sealed from vault_signing_keys')).rows.map(
      (row) => row.sealed,
    );

  it('is made once, whoever asks first, and signs what anybody can check', async () => {
    const signer = signerOf(keyring);
    const keys = await Promise.all([signer.publicKeys(), signer.publicKey(), signerOf(keyring).publicKey()]);
    const key = await signer.publicKey();
    expect(key).toMatch(/^ed25519:[\w-]{43}$/);
    expect(keys.flat()).toContain(key);
    expect(isSignedBy(key, 'text', await signer.sign('text'))).toBe(true);
    expect(await signerOf(await keyringOf(file, { db: database.pool, clock })).publicKey()).toBe(key);
  });

  it('lies sealed under the master key, goes with its rotation, and stays the same', async () => {
    const key = await signerOf(keyring).publicKey();
    const before = await sealed();
    file.push(m2);
    await rotateMasterKey({ db: database.pool, keyring, clock }, 'support:ana', () => undefined);
    expect(await sealed()).not.toEqual(before);
    const later = await keyringOf([m1, m2], { db: database.pool, clock });
    expect(isSignedBy(key, 'text', await signerOf(later).sign('text'))).toBe(true);
  });

  it('is not one that an owner of the database wrote beside it, or in its place', async () => {
    const signer = signerOf(keyring);
    const key = await signer.publicKey();
    const forged = `ed25519:${Buffer.alloc(32, 1).toString('base64url')}`;
    await database.pool.query(`insert into vault_signing_keys (public_key, sealed, created_at)
      select '${forged}', sealed, '2027' from vault_signing_keys`);
    expect(await signer.publicKeys()).toEqual([key]);
    await expect(signer.publicKey()).rejects.toThrow('changed');
    expect(await exportKeyCheck(signer)).toMatchObject({ ok: false, detail: expect.stringContaining(key) });
    expect((await exportKeyCheck(signer)).detail).not.toContain(forged);
    await database.pool.query(`delete from vault_signing_keys where public_key = '${key}'`);
    expect(await signer.publicKeys()).toEqual([]);
    expect(await exportKeyCheck(signer)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('none of them opens'),
    });
    await database.pool.query(`update vault_signing_keys set public_key = '${key}'`);
    expect(await exportKeyCheck(signer)).toMatchObject({ ok: true, detail: `exports are signed by ${key}` });
  });

  it('does not sign when its row was changed', async () => {
    await database.pool.query(
      `update vault_signing_keys set sealed = overlay(sealed placing 'AAAA' from length(sealed) - 4)`,
    );
    await expect(signerOf(keyring).sign('text')).rejects.toThrow('changed');
  });
});
