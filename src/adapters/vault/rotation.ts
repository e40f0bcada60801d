import type pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import type { MasterKeyGeneration, RotationProgress, RotationResult } from '../../ports/master-keys.js';
import { certificateBinding } from './certificate-vault.js';
import { dayKeyBinding } from './day-keys.js';
import { resealSecret, type SecretBinding } from './envelope.js';
import { signingKeyBinding } from './export-signer.js';
import { activate, isRegistered, listGenerations, type RegisteredKey } from './key-registry.js';
import type { Keyring } from './keyring.js';
import { adviceForStrayLines, byGeneration, masterKeyId, nextGeneration } from './master-key.js';

type RotationDeps = { db: pg.Pool; keyring: Keyring; clock: Clock };

/** The state of each generation, newest first. */
export const masterKeyStatus = async ({ db, keyring }: RotationDeps): Promise<readonly MasterKeyGeneration[]> => {
  await keyring.refresh();
  const registered = await listGenerations(db);
  const rows = await sealedRows(db);
  const sealing = keyring.sealing().generation;
  const waiting = keyring.all().filter(({ generation }) => registered.every((one) => one.generation !== generation));
  const strays = strayLines(keyring, registered);
  const stateOf = ({ generation, givenUpAt }: RegisteredKey): MasterKeyGeneration['state'] => {
    if (strays.includes(generation)) return 'given_up';
    if (keyring.all().every((one) => one.generation !== generation))
      return givenUpAt === undefined ? 'lost' : 'given_up';
    return generation === sealing ? 'sealing' : 'opening';
  };
  const strayLineOf = ({ generation }: RegisteredKey) =>
    strays.includes(generation) ? { hasStrayLine: true as const } : {};
  const statuses = [
    ...waiting.map(({ generation, key }) => ({ generation, keyId: masterKeyId(key), state: 'waiting' as const })),
    ...registered.map((one) => ({ ...one, state: stateOf(one), ...strayLineOf(one) })),
  ];
  return statuses.map((status) => ({ ...status, ...(rows.get(status.keyId) ?? NO_ROWS) })).sort(byGeneration);
};

/** The given-up generations under whose name the key file holds another key. */
const strayLines = (keyring: Keyring, registered: readonly RegisteredKey[]): readonly string[] =>
  registered
    .filter((one) => one.givenUpAt !== undefined)
    .filter((one) =>
      keyring
        .all()
        .some(({ generation, key }) => generation === one.generation && !isRegistered(one, masterKeyId(key))),
    )
    .map(({ generation }) => generation);

const NO_ROWS = { certificates: 0, dayKeys: 0, signingKeys: 0 };

/**
 * Activates the newest generation of the key file, then seals the rows of the vault under it. After an interruption a repeated rotation continues.
 * The log's fields stay under their generation permanently, so older generations are never dropped.
 */
export const rotateMasterKey = async (
  { db, keyring, clock }: RotationDeps,
  by: string,
  onProgress: (progress: RotationProgress) => void,
): Promise<RotationResult> => {
  const before = await listGenerations(db);
  const faults = await keyring.refresh();
  if (faults.length > 0) return { refused: faults.join('; ') };
  const [newest] = keyring.all();
  const isWaiting = newest !== undefined && before.every(({ generation }) => generation !== newest.generation);
  if (isWaiting && !(await activate(db, newest, { by, at: clock.now() }))) {
    return { refused: `another key was activated as ${newest.generation}: bring its line into this key file` };
  }
  await keyring.refresh();
  const { generation, key } = keyring.sealing();
  const rows = await sealedRows(db);
  const of = [...rows].reduce(
    (sum, [keyId, { certificates, dayKeys, signingKeys }]) =>
      keyId === masterKeyId(key) ? sum : sum + certificates + dayKeys + signingKeys,
    0,
  );
  if (!isWaiting && of === 0) {
    const advice = adviceToAdd(before, keyring);
    return { refused: `${generation} seals already, and no newer generation waits in the key file: ${advice}` };
  }
  const resealed = await resealVault(db, keyring, (done) => onProgress({ done, of: Math.max(done, of) }));
  return { done: { generation, activated: isWaiting, resealed } };
};

/** `master-key add` may have the key file without the database: where the database knows a later generation, the advice names the next one. */
const adviceToAdd = (registered: readonly RegisteredKey[], keyring: Keyring): string => {
  const strays = strayLines(keyring, registered);
  if (strays.length > 0) return adviceForStrayLines(strays, [...registered, ...keyring.all()]);
  const next = nextGeneration([...registered, ...keyring.all()]);
  return next === nextGeneration(keyring.all())
    ? 'nfse master-key add FILE'
    : `nfse master-key add FILE --generation ${next}`;
};

/** How many rows of the vault each master key seals, by its id. */
type SealedRows = ReadonlyMap<string, { certificates: number; dayKeys: number; signingKeys: number }>;

const PAGE = 200;

/** Counts the sealed rows of the three tables of the vault by the id of their master key; a key that seals nothing is absent. */
const sealedRows = async (db: pg.Pool): Promise<SealedRows> => {
  const { rows } = await db.query<{ keyId: string; certificates: number; dayKeys: number; signingKeys: number }>(
    `select key_id as "keyId", sum(certificates)::int as certificates, sum(day_keys)::int as "dayKeys",
       sum(signing_keys)::int as "signingKeys" from (
       select split_part(sealed, ':', 3) as key_id, 1 as certificates, 0 as day_keys, 0 as signing_keys
         from vault_certificates
       union all select split_part(sealed, ':', 3), 0, 1, 0 from vault_day_keys
       union all select split_part(sealed, ':', 3), 0, 0, 1 from vault_signing_keys
     ) as row group by key_id`,
  );
  return new Map(rows.map(({ keyId, ...counts }) => [keyId, counts]));
};

/**
 * Seals every row under the key that seals. A row is changed alone, and only if it is still as it was read, so this may be ended at any moment,
 * repeated, run twice at once, and run beside the service. Returns how many rows it sealed. Throws `WrongMasterKey` at a row whose key is lost and
 * `TamperedSecret` at a changed row.
 */
const resealVault = async (db: pg.Pool, keyring: Keyring, onRow: (resealed: number) => void): Promise<number> => {
  let resealed = 0;
  const { key } = keyring.sealing();
  for (const table of tables) {
    for (let page = await pageOf(db, table, key); page.length > 0; page = await pageOf(db, table, key)) {
      for (const { sealed, path } of page) {
        const again = await resealSecret(sealed, table.bindingOf(path), keyring, key);
        const { rowCount } = await db.query(
          `update ${table.name} set sealed = $1 where sealed = $2 and ${rowAt(table, '$3')}`,
          [again, sealed, path],
        );
        // Another rotation may have sealed the row in between.
        resealed += rowCount ?? 0;
        onRow(resealed);
      }
    }
  }
  return resealed;
};

type Row = { sealed: string; path: readonly string[] };

/** `key`: the columns of the primary key, all of texts. */
type Table = { name: string; key: readonly string[]; bindingOf(path: readonly string[]): SecretBinding };

const tables: readonly Table[] = [
  {
    name: 'vault_certificates',
    key: ['company_id', 'certificate_id'],
    bindingOf: ([companyId = '', certificateId = '']) => certificateBinding(companyId, certificateId),
  },
  { name: 'vault_day_keys', key: ['day'], bindingOf: ([day = '']) => dayKeyBinding(day) },
  {
    name: 'vault_signing_keys',
    key: ['public_key'],
    bindingOf: ([publicKey = '']) => signingKeyBinding(publicKey),
  },
];

/** A condition on the columns one by one: a comparison of arrays uses no index, so that each row would cost a scan of the table. */
const rowAt = ({ key }: Table, path: string): string =>
  key.map((column, n) => `${column} = (${path}::text[])[${n + 1}]`).join(' and ');

const pageOf = async (db: pg.Pool, table: Table, key: Buffer): Promise<readonly Row[]> => {
  const { rows } = await db.query<Row>(
    `select sealed, array[${table.key.join(', ')}] as path from ${table.name}
     where split_part(sealed, ':', 3) <> $1 order by path limit ${PAGE}`,
    [masterKeyId(key)],
  );
  return rows;
};
