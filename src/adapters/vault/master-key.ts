import { hkdfSync } from 'node:crypto';

/** One generation of the master key; sealed text names it `m1`, `m2`, and so on. */
export type MasterKey = { generation: string; key: Buffer };

/** Newest first. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

/** Thrown when this process lacks a key that it needs; the message names the key and what to restore. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';
}

/** Of AES-256, and of each generation of the master key. */
export const KEY_BYTES = 32;

/** A secret of 32 bytes per label (HKDF-SHA256), always the same under the same master key. */
export const deriveSecret = (masterKey: Buffer, label: string): Buffer => deriveKey(masterKey, `secret|${label}`);

/** 32 bytes by HKDF-SHA256 without salt; `info` separates each use from all others. */
export const deriveKey = (masterKey: Buffer, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), info, KEY_BYTES));

/** 16 hex digits that identify a key and reveal nothing about it. */
export const masterKeyId = (masterKey: Buffer): string => deriveKey(masterKey, 'key id').toString('hex').slice(0, 16);

/** 1 for `m1`; undefined for any other text. */
export const generationNumber = (generation: string): number | undefined => {
  const digits = /^m([1-9]\d{0,5})$/.exec(generation)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** Compares generations for a sort, the newest first. */
export const byGeneration = (one: { generation: string }, other: { generation: string }): number =>
  (generationNumber(other.generation) ?? 0) - (generationNumber(one.generation) ?? 0);

type Named = { generation: string };

/** For the end of a message: what an operator without a copy of these generations must do. docs/operations/keys.md says what it costs. */
export const adviceWithoutCopy = (generations: readonly string[]): string =>
  `if no copy is left: ${givingUp(generations)}`;

const givingUp = (generations: readonly string[]): string =>
  generations
    .map((generation) => `nfse master-key give-up ${generation} --reason TEXT --confirm ${generation}`)
    .join(', ');

/** The same when the whole file is lost: the new key needs a name under which nothing was sealed. */
export const adviceWithoutFile = (
  file: string,
  registered: readonly (Named & { givenUpAt: string | undefined })[],
): string => {
  const lost = registered.filter(({ givenUpAt }) => givenUpAt === undefined).map(({ generation }) => generation);
  const newKey = `nfse master-key add ${file} --generation ${nextGeneration(registered)}`;
  return `if no copy is left: ${newKey}, then ${givingUp(lost)}`;
};

/** What to do about lines of the key file that hold another key under a name that was given up. `all`: every generation that is known. */
export const adviceForStrayLines = (strays: readonly string[], all: readonly Named[]): string =>
  `take the line ${strays.join(', ')} out of the key file, because that name was given up, then nfse master-key add FILE --generation ${nextGeneration(all)}`;

/** The name after all of these. */
export const nextGeneration = (generations: readonly Named[]): string =>
  `m${Math.max(0, ...generations.map(({ generation }) => generationNumber(generation) ?? 0)) + 1}`;
