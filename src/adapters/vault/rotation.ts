import type pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import type { MasterKeyGeneration, RotationProgress, RotationResult } from '../../ports/master-keys.js';
import { activate, listGenerations, type RegisteredKey } from './key-registry.js';
import type { Keyring } from './keyring.js';
import { byGeneration, masterKeyId } from './master-key.js';
import { resealVault, sealedRows } from './reseal.js';

type RotationDeps = { db: pg.Pool; keyring: Keyring; clock: Clock };

/** The state of each generation, newest first. */
export const masterKeyStatus = async ({ db, keyring }: RotationDeps): Promise<readonly MasterKeyGeneration[]> => {
  await keyring.refresh();
  const registered = await listGenerations(db);
  const rows = await sealedRows(db);
  const sealing = keyring.sealing().generation;
  const waiting = keyring.all().filter(({ generation }) => registered.every((one) => one.generation !== generation));
  const stateOf = ({ generation, givenUpAt }: RegisteredKey): MasterKeyGeneration['state'] => {
    if (keyring.all().every((one) => one.generation !== generation))
      return givenUpAt === undefined ? 'lost' : 'given_up';
    return generation === sealing ? 'sealing' : 'opening';
  };
  const statuses = [
    ...waiting.map(({ generation, key }) => ({ generation, keyId: masterKeyId(key), state: 'waiting' as const })),
    ...registered.map((one) => ({ ...one, state: stateOf(one) })),
  ];
  return statuses.map((status) => ({ ...status, ...(rows.get(status.keyId) ?? NO_ROWS) })).sort(byGeneration);
};

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
    return {
      refused: `${generation} seals already, and no newer generation waits in the key file: nfse master-key add FILE`,
    };
  }
  const resealed = await resealVault(db, keyring, (done) => onProgress({ done, of: Math.max(done, of) }));
  return { done: { generation, activated: isWaiting, resealed } };
};
