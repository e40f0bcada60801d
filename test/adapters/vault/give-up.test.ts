import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createCertificateVault } from '../../../src/adapters/vault/certificate-vault.js';
import { createExportSigner } from '../../../src/adapters/vault/export-signer.js';
import { giveUpGeneration } from '../../../src/adapters/vault/give-up.js';
import type { Keyring } from '../../../src/adapters/vault/keyring.js';
import type { MasterKey } from '../../../src/adapters/vault/master-key.js';
import { masterKeyStatus, rotateMasterKey } from '../../../src/adapters/vault/rotation.js';
import { createSealingKeys } from '../../../src/adapters/vault/sealing-keys.js';
import type { CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { masterKeyCheck } from '../../../src/runtime/operator/checks.js';
import { keyringOf } from '../../support/harness/vault.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const key = (generation: string, fill: number): MasterKey => ({ generation, key: Buffer.alloc(32, fill) });
const [m1, m2, m3] = [key('m1', 7), key('m2', 9), key('m3', 11)];
const clock = { now: () => '2026-11-21T12:00:00.000Z' };
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

describeWithPostgres('giving up a generation of the master key', () => {
  let database: FreshDatabase;
  let recorded: string[];
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    recorded = [];
    await database.admin.query('truncate vault_day_keys, vault_certificates, vault_signing_keys, vault_master_keys');
  });
  afterAll(() => database.close());

  const open = (...keys: readonly MasterKey[]) => keyringOf(keys, { db: database.pool, clock });
  const vaultOf = async (...keys: readonly MasterKey[]) =>
    createCertificateVault(database.pool, await open(...keys), clock);
  const giveUp = (generation: string, file: readonly [MasterKey, ...MasterKey[]]) =>
    giveUpGeneration(generation, 'support:ana', {
      db: database.pool,
      keys: file,
      file: 'master.key',
      clock,
      record: async (one) => void recorded.push(one),
    });
  const refused = (why: RegExp) => ({ refused: expect.stringMatching(why) });
  /** A certificate, the key of a test day and a signing key, all sealed by the first generation. */
  const fill = async (): Promise<{ publicKey: string; liveKey: Buffer }> => {
    const keyring = await open(m1);
    await createCertificateVault(database.pool, keyring, clock).put(company, certificate('c1'));
    const keys = createSealingKeys({ keyring, db: database.pool, clock });
    await keys.forSealing('test', test, clock.now());
    const publicKey = await createExportSigner(database.pool, keyring, clock).publicKey();
    return { publicKey, liveKey: (await keys.forSealing('live', live, clock.now())).key };
  };

  it('takes out what only it opened, and lets the newest key of the file seal where none does yet', async () => {
    const { publicKey } = await fill();
    await expect(open(m2)).rejects.toThrow(/nfse master-key give-up m1 --reason TEXT --confirm m1/);
    expect(await giveUp('m1', [m2])).toEqual({
      done: {
        generation: 'm1',
        sealing: 'm2',
        certificates: [`${company} c1`],
        dayKeys: ['2026-11-21'],
        signingKeys: [publicKey],
      },
    });
    expect(recorded).toEqual(['m1']);
    const keyring = await open(m2);
    expect(keyring.sealing().generation).toBe('m2');
    expect(await keyring.refresh()).toEqual([]);
    const keys = createSealingKeys({ keyring, db: database.pool, clock });
    expect(await keys.forOpening('m1', live)).toBeUndefined();
    expect(await keys.forOpening('t2026-11-21.0123456789abcdef', test)).toBeUndefined();
    await expect(keys.forOpening('m4', live)).rejects.toThrow(/generation m4/);
    expect(await (await vaultOf(m2)).holds(company, 'c1')).toBe(false);
    expect(await createExportSigner(database.pool, keyring, clock).publicKeys()).not.toContain(publicKey);
    expect(await masterKeyStatus({ db: database.pool, keyring, clock })).toMatchObject([
      { generation: 'm2', state: 'sealing', activatedBy: 'support:ana' },
      { generation: 'm1', state: 'given_up', givenUpAt: clock.now() },
    ]);
  });

  it('leaves what the others sealed, and who seals', async () => {
    await fill();
    const keyring = await open(m1, m2);
    await rotateMasterKey({ db: database.pool, keyring, clock }, 'support:ana', () => undefined);
    expect(await giveUp('m1', [m2, m3])).toMatchObject({ done: { sealing: 'm2', certificates: [], dayKeys: [] } });
    expect(await (await vaultOf(m2)).open(company, 'c1')).toEqual(certificate('c1'));
    expect((await open(m2, m3)).sealing().generation).toBe('m2');
  });

  it('lets an older generation seal again when the newest is lost', async () => {
    const keyring = await open(m1, m2);
    await rotateMasterKey({ db: database.pool, keyring, clock }, 'support:ana', () => undefined);
    expect(await giveUp('m2', [m1])).toMatchObject({ done: { sealing: 'm1' } });
    expect((await open(m1)).sealing().generation).toBe('m1');
  });

  it('is refused for one that is in the file, or that never was, and nothing is recorded', async () => {
    await fill();
    expect(await giveUp('m1', [m1])).toEqual(refused(/^m1 is not lost: its key is in master\.key/));
    expect(await giveUp('m1', [key('m1', 1)])).toEqual(refused(/another key .*add master\.key --generation m2$/));
    expect(await giveUp('m1', [m2, key('m1', 1)])).toEqual(refused(/another key .*: take that line out of it, then/));
    for (const name of ['m2', 'm3', 'x']) expect(await giveUp(name, [m1])).toEqual(refused(/never was/));
    expect(await giveUp('m2', [m3, m2])).toEqual(refused(/^m2 is not lost/));
    expect(recorded).toEqual([]);
    expect(await (await vaultOf(m1)).holds(company, 'c1')).toBe(true);
  });

  it('says what is given up already, and records and removes nothing again', async () => {
    await fill();
    await giveUp('m1', [m2]);
    await (await vaultOf(m2)).put(company, certificate('c2'));
    const already = { generation: 'm1', givenUpAt: clock.now(), sealing: 'm2' };
    expect(await giveUp('m1', [m2])).toEqual({ already });
    expect(await giveUp('m1', [m1, m2])).toEqual({ already });
    // The line of m2 is lost too: m3 was never activated.
    expect(await giveUp('m1', [m3])).toEqual({ already: { ...already, sealing: undefined } });
    for (const file of [m1, key('m1', 1)])
      expect(await giveUp('m1', [file])).toEqual({
        refused: 'no key of master.key can seal: nfse master-key add master.key --generation m3',
      });
    expect(recorded).toEqual(['m1']);
    expect(await (await vaultOf(m2)).holds(company, 'c2')).toBe(true);
  });

  it('leaves a name that no other key gets: its line is not used, and the cure that rotate names ends it', async () => {
    const db = database.pool;
    const rotate = (of: Keyring) => rotateMasterKey({ db, keyring: of, clock }, 'support:ana', () => undefined);
    await rotate(await open(m1, m2));
    await giveUp('m2', [m1]);
    expect(await rotate(await open(m1))).toEqual(refused(/: nfse master-key add FILE --generation m3$/));

    const again = key('m2', 10);
    const keyring = await open(m1, again);
    expect(keyring.sealing()).toMatchObject(m1);
    expect(await keyring.refresh()).toEqual([]);
    expect(await keyring.ofGeneration('m2')).toBeUndefined();
    const cure = /take the line m2 out of the key file, .*nfse master-key add FILE --generation m3$/;
    expect(await rotate(keyring)).toEqual(refused(cure));
    const status = await masterKeyStatus({ db, keyring, clock });
    expect(status).toMatchObject([{ generation: 'm2', state: 'given_up', hasStrayLine: true }, { state: 'sealing' }]);
    const line = masterKeyCheck(status);
    expect(line).toMatchObject({ ok: true, detail: expect.stringContaining('holds another key as m2') });
    expect(line.cure).toMatch(cure);
    expect(await rotate(await open(m1, m3))).toMatchObject({ done: { generation: 'm3', activated: true } });
  });

  it('is refused where no key of the file can seal: it would be given up too', async () => {
    await fill();
    await giveUp('m1', [m2]);
    expect(await giveUp('m2', [m1])).toEqual(refused(/no key of master\.key can seal: .*--generation m3$/));
  });

  it('does nothing that could not be put on record', async () => {
    await fill();
    const act = giveUpGeneration('m1', 'support:ana', {
      db: database.pool,
      keys: [m2] as const,
      file: 'master.key',
      clock,
      record: () => Promise.reject(new Error('the log is away')),
    });
    await expect(act).rejects.toThrow('the log is away');
    expect(await (await vaultOf(m1)).holds(company, 'c1')).toBe(true);
    await expect(open(m2)).rejects.toThrow(/generation m1/);
  });

  it('is taken back for events, and for nothing else, by a line that turns up again', async () => {
    const { liveKey } = await fill();
    await giveUp('m1', [m2]);
    const file = [m2];
    const keyring = await keyringOf(file, { db: database.pool, clock });
    file.push(m1);
    expect(await keyring.refresh()).toEqual([]);
    expect(keyring.sealing().generation).toBe('m2');
    const keys = createSealingKeys({ keyring, db: database.pool, clock });
    expect(await keys.forOpening('m1', live)).toEqual(liveKey);
  });

  it('stops a process that has nothing but the lost key in memory from sealing with it', async () => {
    const frozen = await open(m1);
    await giveUp('m1', [m2]);
    expect(await frozen.refresh()).toEqual([expect.stringMatching(/generation m2 is in master\.key/)]);
    expect(() => frozen.sealing()).toThrow(/^no key of master\.key/);
  });

  it('is possible in a new database, whose log was sealed by a generation that it never met', async () => {
    await open(m2);
    expect(await giveUp('m1', [m2])).toMatchObject({ done: { sealing: 'm2', certificates: [] } });
    const keys = createSealingKeys({ keyring: await open(m2), db: database.pool, clock });
    expect(await keys.forOpening('m1', live)).toBeUndefined();
    expect((await open(m1, m2)).sealing().generation).toBe('m2');
  });
});
