import type { Instant } from '../domain/common/time.js';

/**
 * `waiting`: in the key file and not activated. `lost`: has sealed and is not in the key file. `given_up`: lost, and an operator confirmed that no
 * copy is left.
 */
export type MasterKeyGeneration = {
  generation: string;
  keyId: string;
  state: 'sealing' | 'opening' | 'waiting' | 'lost' | 'given_up';
  /** Rows of the vault. No table counts the events that a generation sealed. */
  certificates: number;
  dayKeys: number;
  /** Keys that sign exports of the log. */
  signingKeys: number;
  activatedAt?: Instant | undefined;
  activatedBy?: string | undefined;
  givenUpAt?: Instant | undefined;
  /** The key file holds another key under the name of this given-up generation. That key is never used. */
  hasStrayLine?: true;
};

export type RotationProgress = { done: number; of: number };

/** `refused` is one line for the operator. */
export type RotationResult =
  | { done: { generation: string; activated: boolean; resealed: number } }
  | { refused: string };
