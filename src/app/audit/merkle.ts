import { createHash } from 'node:crypto';
import type { StreamName } from '../../domain/common/ids.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { Revision } from '../../ports/event-log.js';

/** Where a stream ends: its last revision and that event's hash. */
export type StreamHead = { stream: StreamName; revision: Revision; hash: string };

/**
 * Merkle tree of RFC 6962 over the heads: a leaf is SHA-256 of a 0 byte and `["<stream>",<revision>,"<hash>"]` in UTF-8, a node is SHA-256 of a 1
 * byte and its two children; leaves in code unit order of the stream's name. Without heads: the SHA-256 of no bytes.
 */
export const merkleRoot = (headsInOrder: Iterable<StreamHead>): string => {
  /** Roots of perfect subtrees, left to right, with decreasing sizes, so that memory grows with the logarithm of the leaves. */
  const pending: { size: number; hash: Buffer }[] = [];
  for (const { stream, revision, hash } of headsInOrder) {
    let size = 1;
    let node = sha256(LEAF, sortedJson([stream, revision, hash]));
    for (let left = pending.at(-1); left?.size === size; left = pending.at(-1)) {
      node = sha256(NODE, left.hash, node);
      size *= 2;
      pending.pop();
    }
    pending.push({ size, hash: node });
  }
  let root = pending.pop()?.hash;
  for (let left = pending.pop(); left !== undefined && root !== undefined; left = pending.pop()) {
    root = sha256(NODE, left.hash, root);
  }
  return (root ?? createHash('sha256').digest()).toString('hex');
};

/** The order that `merkleRoot` takes: by code units, independent of any locale. */
export const byStream = (a: { stream: StreamName }, b: { stream: StreamName }): number =>
  a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : 0;

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

const sha256 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
