import { stat } from 'node:fs/promises';
import { otherOwner } from '../../lib/other-owner.js';
import { clusterFolder } from './cluster-names.js';
import { EmbeddedPostgresError } from './error.js';
import { existingOsUsers } from './os-user.js';

/**
 * The refusal of a data folder whose database belongs to another OS user than this process and its server. Without a database yet, root refuses the
 * folder of another user, whose service could not use what root makes there; other users may try, because a folder may be open to their group.
 */
export const refusalOfOtherUser = async (dataDir: string): Promise<EmbeddedPostgresError | undefined> => {
  const cluster = clusterFolder(dataDir);
  const isRoot = process.geteuid?.() === 0;
  const ownerOfCluster = await ownerOf(cluster);
  const isThere = ownerOfCluster !== undefined;
  if (!isThere && !isRoot) return undefined;
  const [at, name] = isThere ? [cluster, cluster] : [dataDir, `DATA_DIR ${dataDir}`];
  const owner = ownerOfCluster ?? (await ownerOf(dataDir));
  if (owner === undefined) return undefined;
  if (isRoot && existingOsUsers().some(({ uid }) => uid === owner)) return undefined;
  const advice = await otherOwner(at, { name });
  return advice === undefined ? undefined : new EmbeddedPostgresError(advice);
};

/** Undefined for a path that is not there or not seen. */
export const ownerOf = async (path: string): Promise<number | undefined> =>
  (await stat(path).catch(() => undefined))?.uid;
