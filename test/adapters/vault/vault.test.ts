import { hkdfSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCertificateVault } from '../../../src/adapters/vault/certificate-vault.js';
import type { Keyring } from '../../../src/adapters/vault/keyring.js';
import { createSealingKeys } from '../../../src/adapters/vault/sealing-keys.js';
import type { Instant } from '../../../src/domain/common/time.js';
import type { CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { SealedTextChanged } from '../../../src/ports/sealing-keys.js';
import { keyringOf } from '../../support/harness/vault.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const master = { generation: 'm1', key: Buffer.alloc(32, 7) };
const stranger = { generation: 'm1', key: Buffer.alloc(32, 8) };
const stream = 'nfseTest-12345678000195_00000000-0000-8000-a000-000000000001';
const live = 'nfseLive-12345678000195_00000000-0000-8000-a000-000000000001';
const today = '2026-11-21T12:00:00.000Z';

describeWithPostgres('vault', () => {
  let database: FreshDatabase;
  let now: Instant;
  const clock = { now: () => now };
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    now = today;
    await database.admin.query('truncate vault_day_keys, vault_certificates, vault_master_keys');
  });
  afterAll(() => database.close());

  const keyring = (key = master): Promise<Keyring> => keyringOf([key], { db: database.pool, clock });
  const sealingKeys = async (key = master) =>
    createSealingKeys({ keyring: await keyring(key), db: database.pool, clock });

  /** A database that does not know the keys any more takes any: only what was sealed tells them apart. */
  const forgetMasterKeys = () => database.admin.query('truncate vault_master_keys');

  describe('live keys', () => {
    it('are derived from the master key and the stream alone', async () => {
      const expected = Buffer.from(hkdfSync('sha256', master.key, Buffer.alloc(0), `seal|${live}`, 32));
      expect(await (await sealingKeys()).forSealing('live', live, today)).toEqual({ generation: 'm1', key: expected });
      expect(await (await sealingKeys()).forOpening('m1', live)).toEqual(expected);
      expect(await (await sealingKeys()).forOpening('m1', live.replace(/1$/, '2'))).not.toEqual(expected);
    });

    it('of a generation that is not configured are refused', async () => {
      await expect((await sealingKeys()).forOpening('m2', live)).rejects.toThrow(/generation m2/);
    });

    it('of an older generation still open', async () => {
      const next = { generation: 'm2', key: Buffer.alloc(32, 9) };
      const before = await (await sealingKeys()).forOpening('m1', live);
      await forgetMasterKeys();
      const both = await keyringOf([next, master], { db: database.pool, clock });
      const keys = createSealingKeys({ keyring: both, db: database.pool, clock });
      expect((await keys.forSealing('live', live, today)).generation).toBe('m2');
      expect(await keys.forOpening('m1', live)).toEqual(before);
    });
  });

  it('refuse a name of the other kind of key, so that no live field counts as erased with its test day', async () => {
    const { generation } = await (await sealingKeys()).forSealing('test', stream, today);
    const company = 'company-12345678000195';
    for (const [name, place] of [
      ['t2020-01-01', live],
      ['t2020-01-01.0123456789abcdef', company],
      [generation, live],
      ['m1', stream],
      ['m9', stream],
    ] as const) {
      const opening = (await sealingKeys()).forOpening(name, place);
      await expect(opening).rejects.toThrow(new SealedTextChanged('it is sealed under the wrong kind of key'));
    }
    expect(await (await sealingKeys()).forOpening('t2020-01-01', stream)).toBeUndefined();
  });

  describe('day keys', () => {
    it('are one a day, whoever asks first', async () => {
      const asked = await Promise.all(
        Array.from({ length: 20 }, async () => (await sealingKeys()).forSealing('test', stream, today)),
      );
      expect(new Set(asked.map(({ key }) => key.toString('hex'))).size).toBe(1);
      const [first] = asked;
      expect(first?.generation).toMatch(/^t2026-11-21\.[0-9a-f]{16}$/);
      expect(await (await sealingKeys()).forOpening(first?.generation ?? '', stream)).toEqual(first?.key);
      expect(await (await sealingKeys()).forOpening('t2026-11-21', stream)).toEqual(asked[0]?.key);
      const tomorrow = await (await sealingKeys()).forSealing('test', stream, '2026-11-22T00:00:00.000Z');
      expect(tomorrow.key).not.toEqual(asked[0]?.key);
    });

    it('are not readable in the table', async () => {
      const { key } = await (await sealingKeys()).forSealing('test', stream, today);
      const { rows } = await database.pool.query<{ sealed: string }>('select sealed from vault_day_keys');
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(rows[0]?.sealed).not.toContain(key.toString(encoding));
      }
    });

    it('are undefined once destroyed, in this process at once and in others within a minute', async () => {
      const [here, elsewhere] = [await sealingKeys(), await sealingKeys()];
      await here.forSealing('test', stream, '2026-11-20T23:59:59.999Z');
      const { key } = await here.forSealing('test', stream, today);
      await elsewhere.forOpening('t2026-11-20', stream);
      expect(await here.destroyDayKeys('2026-11-21')).toBe(1);
      expect(await here.forOpening('t2026-11-20', stream)).toBeUndefined();
      now = '2026-11-21T12:01:00.000Z';
      expect(await elsewhere.forOpening('t2026-11-20', stream)).toBeUndefined();
      expect(await elsewhere.forOpening('t2026-11-21', stream)).toEqual(key);
    });

    it('seal for their day as long as they are kept, so that what is added later opens no longer than what was first', async () => {
      const first = await (await sealingKeys()).forSealing('test', stream, today);
      now = '2026-11-27T12:00:00.000Z';
      const later = await (await sealingKeys()).forSealing('test', stream, today);
      expect(later).toEqual(first);
      await (await sealingKeys()).destroyDayKeys('2026-11-22');
      expect((await (await sealingKeys()).forSealing('test', stream, today)).generation).toMatch(/^t2026-11-27\./);
    });

    it('are never made again for a day long past', async () => {
      const { generation } = await (await sealingKeys()).forSealing('test', stream, '2026-11-10T12:00:00.000Z');
      expect(generation).toMatch(/^t2026-11-21\./);
      expect(await (await sealingKeys()).forOpening('t2026-11-10', stream)).toBeUndefined();
    });

    it('are undefined when they were lost with their table, also after the day has got another', async () => {
      const { generation } = await (await sealingKeys()).forSealing('test', stream, today);
      await database.admin.query('truncate vault_day_keys');
      expect(await (await sealingKeys()).forOpening(generation, stream)).toBeUndefined();
      const another = await (await sealingKeys()).forSealing('test', stream, today);
      expect(await (await sealingKeys()).forOpening(generation, stream)).toBeUndefined();
      expect(await (await sealingKeys()).forOpening(another.generation, stream)).toEqual(another.key);
    });

    it('refuse another master key and a changed or moved row, each by its name', async () => {
      await (await sealingKeys()).forSealing('test', stream, today);
      await forgetMasterKeys();
      await expect((await sealingKeys(stranger)).forOpening('t2026-11-21', stream)).rejects.toThrow(
        /restore that key file/,
      );
      await forgetMasterKeys();
      await database.pool.query(`update vault_day_keys set day = '2026-11-19'`);
      await expect((await sealingKeys()).forOpening('t2026-11-19', stream)).rejects.toThrow(
        /changed or stands in the wrong row/,
      );
      await database.pool.query(`update vault_day_keys set sealed = 'rubbish'`);
      await expect((await sealingKeys()).forOpening('t2026-11-19', stream)).rejects.toThrow(/not sealed text/);
    });
  });

  describe('certificates', () => {
    const certificate: CompanyCertificate = {
      privateKeyPem: 'private',
      certificatePem: 'leaf',
      chainPem: ['ca'],
      certificateId: 'c1',
      cnpj: '12345678000195',
      notBefore: '2026-01-01T00:00:00.000Z',
      notAfter: '2027-01-01T00:00:00.000Z',
      fingerprint: 'ff',
    };
    const vault = async (key = master) => createCertificateVault(database.pool, await keyring(key), clock);

    it('come back as they were put, and only for their company', async () => {
      await (await vault()).put('12345678000195', certificate);
      expect(await (await vault()).open('12345678000195', 'c1')).toEqual(certificate);
      expect(await (await vault()).open('12345678000195', 'c2')).toBeUndefined();
      expect(await (await vault()).open('98765432000198', 'c1')).toBeUndefined();
    });

    it('are removed by id, and only those of their company', async () => {
      const kept = await vault();
      const rows = () => kept.rowsOf('12345678000195');
      const row = (certificateId: string) => ({ certificateId, putAt: now });
      await kept.put('12345678000195', certificate);
      await kept.put('12345678000195', { ...certificate, certificateId: 'c2' });
      await kept.put('98765432000198', certificate);
      expect(await rows()).toEqual([row('c1'), row('c2')]);
      await kept.remove('12345678000195', ['c1', 'c3']);
      expect(await rows()).toEqual([row('c2')]);
      expect(await kept.holds('98765432000198', 'c1')).toBe(true);
    });

    it('are found and opened in a statement each for the readers of one turn, each of its own company', async () => {
      const kept = createCertificateVault(database.pool, await keyring(), clock);
      await kept.put('12345678000195', certificate);
      await kept.put('98765432000198', { ...certificate, certificateId: 'c2' });
      const asked = [
        ['12345678000195', 'c1'],
        ['12345678000195', 'c2'],
        ['98765432000198', 'c2'],
        ['98765432000198', 'c3'],
      ] as const;
      const taken = vi.spyOn(database.pool, 'connect');
      expect(await Promise.all(asked.map((ids) => kept.holds(ids[0], ids[1])))).toEqual([true, false, true, false]);
      const opened = await Promise.all(asked.map((ids) => kept.open(ids[0], ids[1])));
      expect(opened.map((one) => one?.certificateId)).toEqual(['c1', undefined, 'c2', undefined]);
      expect(taken).toHaveBeenCalledTimes(2);
      taken.mockRestore();
    });

    it('refuse another master key', async () => {
      await (await vault()).put('12345678000195', certificate);
      await forgetMasterKeys();
      await expect((await vault(stranger)).open('12345678000195', 'c1')).rejects.toThrow(/restore that key file/);
    });

    it('refuse a row that was changed or given to another company', async () => {
      await (await vault()).put('12345678000195', certificate);
      await database.pool.query(`update vault_certificates set company_id = '98765432000198'`);
      await expect((await vault()).open('98765432000198', 'c1')).rejects.toThrow(/wrong row/);
      await database.pool.query(
        `update vault_certificates set company_id = '12345678000195', sealed = left(sealed, -5) || 'AAAAA'`,
      );
      await expect((await vault()).open('12345678000195', 'c1')).rejects.toThrow(/was changed/);
    });
  });
});
