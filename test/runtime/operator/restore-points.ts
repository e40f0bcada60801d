/** Where a restore is killed, in the order in which it gets there. */
export const RESTORE_POINTS = [
  'the folder is marked',
  'the schema is being made',
  'rows are being loaded',
  'the rows are about to be committed',
  'the rows are committed',
  'the server has stopped',
] as const;

/** Where a restore that takes the key from the backup is killed besides, in that order. */
export const KEY_POINTS = [
  'the mark is being written',
  'the copy of the key is being written',
  'the copy of the key is in its place',
] as const;

export type RestorePoint = (typeof RESTORE_POINTS)[number] | (typeof KEY_POINTS)[number];
