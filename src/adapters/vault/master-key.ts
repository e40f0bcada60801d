import { hkdfSync } from 'node:crypto';

/** One generation of the master key, as it is named in what it sealed: `m1`, `m2`, and so on. */
export type MasterKey = { generation: string; key: Buffer };

/** Newest first. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

/** Thrown when a key is needed that this process does not have; the message names it and what to restore. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';
}

const KEY_BYTES = 32;

/** A secret of its own per label (HKDF-SHA256); 32 bytes, the same for ever under the same master key. */
export const deriveSecret = (masterKey: Buffer, label: string): Buffer => deriveKey(masterKey, `secret|${label}`);

/** HKDF-SHA256 without salt; `info` tells one use from every other. */
export const deriveKey = (masterKey: Buffer, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, KEY_BYTES));

/** Tells keys apart without saying anything about them; 16 hex digits. */
export const masterKeyId = (masterKey: Buffer): string => deriveKey(masterKey, 'key id').toString('hex').slice(0, 16);

/** 1 for `m1`; undefined for any other text. */
export const generationNumber = (generation: string): number | undefined => {
  const digits = /^m([1-9]\d{0,5})$/.exec(generation)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** Newest first. */
export const byGeneration = (one: { generation: string }, other: { generation: string }): number =>
  (generationNumber(other.generation) ?? 0) - (generationNumber(one.generation) ?? 0);
