import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkVault, createCertificateVault } from '../../../src/adapters/vault/certificate-vault.js';
import type { Keyring } from '../../../src/adapters/vault/keyring.js';
import { type MasterKey, masterKeyId } from '../../../src/adapters/vault/master-key.js';
import { masterKeyStatus, rotateMasterKey } from '../../../src/adapters/vault/rotation.js';
import { createSealingKeys } from '../../../src/adapters/vault/sealing-keys.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { SealedTextChanged, SealingKeyUnknown } from '../../../src/ports/sealing-keys.js';
import { isUnavailable } from '../../../src/runtime/roles/faults.js';
import { keyringOf } from '../../support/harness/vault.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const m1 = { generation: 'm1', key: Buffer.alloc(32, 7) };
const m2 = { generation: 'm2', key: Buffer.alloc(32, 9) };
const today = '2026-11-21T12:00:00.000Z';
const company = '12345678000195';
const live = `nfseLive-${company}_00000000-0000-8000-a000-000000000001`;
const test = `nfseTest-${company}_00000000-0000-8000-a000-000000000001`;

const certificate = (certificateId: string): CompanyCertificate => ({
  certificateId,
  privateKeyPem: 'private',
  certificatePem: 'leaf',
  chainPem: ['ca'],
  cnpj: company,
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2027-01-01T00:00:00.000Z',
  fingerprint: 'ff',
});

describeWithPostgres('rotation of the master key', () => {
  let database: FreshDatabase;
  let now: Instant;
  let file: MasterKey[];
  let keyring: Keyring;
  const clock = { now: () => now };
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    now = today;
    await database.admin.query('truncate vault_day_keys, vault_certificates, vault_master_keys');
    file = [m1];
    keyring = await open();
  });
  afterAll(() => database.close());

  const open = (keys: readonly MasterKey[] = file) => keyringOf(keys, { db: database.pool, clock });
  const vaultOf = (keys: Keyring) => createCertificateVault(database.pool, keys, clock);
  const keysOf = (keys: Keyring) => createSealingKeys({ keyring: keys, db: database.pool, clock });
  const deps = () => ({ db: database.pool, keyring, clock });
  const rotate = (onProgress = (_: { done: number; of: number }): void => undefined) =>
    rotateMasterKey(deps(), 'support:ana', onProgress);
  const keyIds = async (): Promise<readonly string[]> => {
    const { rows } = await database.pool.query<{ id: string }>(
      `select split_part(sealed, ':', 3) as id from vault_certificates union all
       select split_part(sealed, ':', 3) from vault_day_keys`,
    );
    return rows.map(({ id }) => id);
  };
  const fill = async (): Promise<void> => {
    for (const id of ['c1', 'c2', 'c3']) await vaultOf(keyring).put(company, certificate(id));
    await keysOf(keyring).forSealing('test', test, today);
  };

  it('seals with a new generation only once it is activated, though it stands in the file', async () => {
    file.push(m2);
    await keyring.refresh();
    expect(keyring.sealing().generation).toBe('m1');
    expect((await open()).sealing().generation).toBe('m1');
    expect(await rotate()).toEqual({ done: { generation: 'm2', activated: true, resealed: 0 } });
    expect((await keysOf(keyring).forSealing('live', live, today)).generation).toBe('m2');
  });

  it('puts certificates and day keys under the new generation, and they open with it alone', async () => {
    await fill();
    const dayKey = await keysOf(keyring).forOpening('t2026-11-21', test);
    file.push(m2);
    const shown: number[] = [];
    expect(await rotate(({ done, of }) => shown.push(done / of))).toMatchObject({ done: { resealed: 4 } });
    expect(shown).toEqual([0.25, 0.5, 0.75, 1]);
    expect(await keyIds()).toEqual(Array(4).fill(masterKeyId(m2.key)));
    await database.pool.query(`delete from vault_master_keys where generation = 'm1'`);
    const only = await open([m2]);
    expect(await vaultOf(only).open(company, 'c2')).toEqual(certificate('c2'));
    expect(await keysOf(only).forOpening('t2026-11-21', test)).toEqual(dayKey);
  });

  it('does not open what an envelope holds', async () => {
    await fill();
    const bodies = async () =>
      (
        await database.pool.query<{ body: string }>(
          `select split_part(sealed, ':', 5) as body from vault_certificates order by certificate_id`,
        )
      ).rows;
    const before = await bodies();
    file.push(m2);
    await rotate();
    expect(await bodies()).toEqual(before);
  });

  it('that was ended early goes on when it is run again', async () => {
    await fill();
    file.push(m2);
    const ended = rotate(({ done }) => {
      if (done === 2) throw new Error('ended');
    });
    await expect(ended).rejects.toThrow('ended');
    expect((await keyIds()).filter((id) => id === masterKeyId(m2.key))).toHaveLength(2);
    expect(await vaultOf(keyring).open(company, 'c1')).toEqual(certificate('c1'));
    expect(await rotate()).toEqual({ done: { generation: 'm2', activated: false, resealed: 2 } });
    expect(await keyIds()).toEqual(Array(4).fill(masterKeyId(m2.key)));
  });

  it('finds each row by its primary key, however many there are', async () => {
    await fill();
    file.push(m2);
    const updates = new Set<string>();
    const client = await database.pool.connect();
    const db = Object.create(database.pool, {
      query: {
        value: async (text: string, values: readonly string[] = []) => {
          if (text.startsWith('update vault_')) updates.add(text);
          return await client.query(text, [...values]);
        },
      },
    });
    await rotateMasterKey({ ...deps(), db }, 'support:ana', () => undefined);
    await client.query('begin; set local enable_seqscan = off');
    const plans: string[] = [];
    for (const text of updates)
      plans.push(JSON.stringify((await client.query(`explain ${text}`, ['again', 'sealed', ['a', 'b']])).rows));
    await client.query('rollback');
    client.release();
    expect(plans).toEqual([expect.stringContaining('Index Cond'), expect.stringContaining('Index Cond')]);
  });

  it('may be run twice at once', async () => {
    await fill();
    file.push(m2);
    const both = await Promise.all([rotate(), rotate()]);
    // The later rotation may find nothing left to do, and reports that.
    expect(both).toContainEqual({ done: expect.objectContaining({ generation: 'm2' }) });
    expect(await keyIds()).toEqual(Array(4).fill(masterKeyId(m2.key)));
    expect(await vaultOf(keyring).open(company, 'c3')).toEqual(certificate('c3'));
  });

  it('leaves what a row has become since it was read', async () => {
    await fill();
    file.push(m2);
    const renewed = { ...certificate('c1'), chainPem: ['a newer ca'] };
    const writes: Promise<void>[] = [];
    const db = Object.create(database.pool, {
      query: {
        value: async (text: string, values: readonly string[] = []) => {
          if (text.startsWith('update vault_certificates') && writes.length === 0)
            writes.push(vaultOf(keyring).put(company, renewed));
          await Promise.all(writes);
          return await database.pool.query(text, [...values]);
        },
      },
    });
    expect(await rotateMasterKey({ ...deps(), db }, 'support:ana', () => undefined)).toMatchObject({
      done: { generation: 'm2', resealed: 3 },
    });
    expect(await vaultOf(keyring).open(company, 'c1')).toEqual(renewed);
    expect(await keyIds()).toEqual(Array(4).fill(masterKeyId(m2.key)));
  });

  it('is refused while no generation waits', async () => {
    await fill();
    expect(await rotate()).toEqual({ refused: expect.stringMatching(/^m1 seals already, .*master-key add FILE/) });
  });

  it('is refused when another key was activated under the same name', async () => {
    const [here, elsewhere] = [
      [m1, m2],
      [m1, { generation: 'm2', key: Buffer.alloc(32, 8) }],
    ];
    keyring = await open(here);
    const other = await open(elsewhere);
    await rotate();
    keyring = other;
    expect(await rotate()).toEqual({ refused: expect.stringMatching(/^master key m2 is .*made with/) });
    expect(keyring.sealing().generation).toBe('m1');
  });

  it('is refused where a changed row stands, and says so', async () => {
    await fill();
    await database.pool.query(`update vault_certificates set certificate_id = 'moved' where certificate_id = 'c2'`);
    file.push(m2);
    await expect(rotate()).rejects.toThrow(/was changed or stands in the wrong row/);
  });

  describe('in a process that runs on', () => {
    it('is taken up at the next refresh', async () => {
      const running = await open();
      file.push(m2);
      await rotate();
      expect(running.sealing().generation).toBe('m1');
      expect(await running.refresh()).toEqual([]);
      expect(running.sealing().generation).toBe('m2');
    });

    it('keeps nothing closed that was sealed under the new generation before that', async () => {
      const running = await open();
      await fill();
      file.push(m2);
      await rotate();
      const sealed = await keysOf(keyring).forSealing('live', live, today);
      expect(await vaultOf(running).open(company, 'c1')).toEqual(certificate('c1'));
      expect(await keysOf(running).forOpening(sealed.generation, live)).toEqual(sealed.key);
    });

    it('leaves events of before under their generation', async () => {
      const before = await keysOf(keyring).forSealing('live', live, today);
      file.push(m2);
      await rotate();
      expect(before.generation).toBe('m1');
      expect(await keysOf(keyring).forOpening('m1', live)).toEqual(before.key);
      expect(await keysOf(keyring).forOpening('m2', live)).not.toEqual(before.key);
    });

    it('keeps its keys while the file cannot be read, and says that', async () => {
      file.splice(0);
      expect(await keyring.refresh()).toEqual(['the key file cannot be read']);
      expect(keyring.sealing()).toMatchObject(m1);
    });

    it('names a generation that was activated elsewhere and is not in its file', async () => {
      const behind = await open([m1]);
      file.push(m2);
      await rotate();
      await vaultOf(keyring).put(company, certificate('c9'));
      expect(await behind.refresh()).toEqual([
        expect.stringContaining('no master key of generation m2 is in master.key'),
      ]);
      expect(behind.sealing().generation).toBe('m1');
      expect(await checkVault(database.pool, behind)).toEqual({ wrongKey: 1 });
      expect(await checkVault(database.pool, keyring)).toEqual({ wrongKey: 0 });
      await expect(keysOf(behind).forOpening('m2', live)).rejects.toThrow(/no master key of generation m2/);
    });

    it('names a generation that neither database nor file knows, and what to restore, because both may be older than the log', async () => {
      const opening = keysOf(keyring).forOpening('m7', live);
      await expect(opening).rejects.toThrow(SealingKeyUnknown);
      await expect(opening).rejects.toThrow(/generation m7: restore its line in master.key from your copy/);
      await expect(opening).rejects.toSatisfy(isUnavailable);
      const changed = keysOf(keyring).forOpening('m7x', live);
      await expect(changed).rejects.toSatisfy((error) => error instanceof SealedTextChanged && !isUnavailable(error));
      file.push({ ...m2, generation: 'm7' });
      expect(await keysOf(keyring).forOpening('m7', live)).toBeInstanceOf(Buffer);
    });
  });

  describe('links', () => {
    it('of before are taken until the time is over, then no more', async () => {
      file.push(m2);
      await rotate();
      const generations = () => keyring.recent(960).map(({ generation }) => generation);
      expect(generations()).toEqual(['m2', 'm1']);
      now = addSeconds(today, 959);
      expect(generations()).toEqual(['m2', 'm1']);
      now = addSeconds(today, 960);
      expect(generations()).toEqual(['m2']);
    });

    it('of a process that is a moment ahead are taken too', async () => {
      file.push(m2);
      await keyring.refresh();
      expect(keyring.recent(960).map(({ generation }) => generation)).toEqual(['m1', 'm2']);
    });
  });

  describe('a start', () => {
    it('is refused when a generation was lost, and names it', async () => {
      file.push(m2);
      await rotate();
      await expect(open([m2])).rejects.toThrow(/^no master key of generation m1 is in master\.key/);
      await expect(open([m1])).rejects.toThrow(/^no master key of generation m2 is in master\.key/);
    });

    it('is refused when the file holds another key under a known name', async () => {
      await open();
      await expect(open([{ generation: 'm1', key: m2.key }])).rejects.toThrow(/restore that key file/);
    });

    it('over a lost database takes every generation of the file', async () => {
      await database.admin.query('truncate vault_master_keys');
      expect((await open([m1, m2])).sealing().generation).toBe('m2');
      expect(await (await open([m2, m1])).ofGeneration('m1')).toMatchObject(m1);
    });

    it('of several processes over an empty database agrees on one key, and refuses the others', async () => {
      await database.admin.query('truncate vault_master_keys');
      const starts = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) => open([{ generation: 'm1', key: Buffer.alloc(32, n % 2) }])),
      );
      expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    });
  });

  it('shows what each generation is for', async () => {
    await fill();
    file.push(m2);
    const waiting = { generation: 'm2', keyId: masterKeyId(m2.key), certificates: 0, dayKeys: 0, signingKeys: 0 };
    const first = { generation: 'm1', keyId: masterKeyId(m1.key), signingKeys: 0, activatedAt: today };
    expect(await masterKeyStatus(deps())).toEqual([
      { ...waiting, state: 'waiting' },
      { ...first, state: 'sealing', certificates: 3, dayKeys: 1 },
    ]);
    await rotate();
    expect(await masterKeyStatus(deps())).toEqual([
      { ...waiting, state: 'sealing', certificates: 3, dayKeys: 1, activatedAt: today, activatedBy: 'support:ana' },
      { ...first, state: 'opening', certificates: 0, dayKeys: 0, signingKeys: 0 },
    ]);
  });
});
