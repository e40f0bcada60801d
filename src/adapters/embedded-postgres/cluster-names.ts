import { join } from 'node:path';

/** Names in the data folder: the cluster, the cluster while `initdb` makes it, and the file that gives `initdb` the password. */
export const CLUSTER_NAMES = { cluster: 'postgres', draft: 'postgres.new', password: 'postgres.password' } as const;

export const clusterFolder = (dataDir: string): string => join(dataDir, CLUSTER_NAMES.cluster);
