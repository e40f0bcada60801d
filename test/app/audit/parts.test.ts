import { createHash, generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkShape } from '../../../src/app/audit/event-shape.js';
import { isSignedBy, readPublicKey } from '../../../src/app/audit/manifest.js';
import { byStream, merkleRoot, type StreamHead } from '../../../src/app/audit/merkle.js';
import type { LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import { testSigner } from '../../support/harness/audit.js';

const sha256 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** RFC 6962, section 2.1, as it is written there. */
const byTheBook = (leaves: readonly string[]): Buffer => {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(Buffer.from([0]), leaves[0] ?? '');
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return sha256(Buffer.from([1]), byTheBook(leaves.slice(0, half)), byTheBook(leaves.slice(half)));
};

describe('the Merkle root', () => {
  it('is that of RFC 6962 for any number of leaves', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 70 }), (names) => {
        const heads: StreamHead[] = names
          .map((stream, revision) => ({ stream, revision, hash: 'a'.repeat(64) }))
          .sort(byStream);
        const leaves = heads.map(({ stream, revision, hash }) => JSON.stringify([stream, revision, hash]));
        expect(merkleRoot(heads)).toBe(byTheBook(leaves).toString('hex'));
      }),
    );
  });
});

describe('the shape of stored events', () => {
  const folder = new URL('../../golden/events/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

  it.each(names)('takes %s as it lies in real logs', (name) => {
    const { event } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { event: RecordedEvent };
    expect(checkShape({ ...event, position: 1n as LogPosition })).not.toHaveProperty('fault');
  });

  it.each(names)('refuses %s with a field that nobody wrote, or without one', (name) => {
    const { event } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { event: RecordedEvent };
    const shapeOf = (change: Partial<RecordedEvent>) =>
      checkShape({ ...event, position: 1n as LogPosition, ...change });
    expect(shapeOf({ data: { ...event.data, surprise: true } })).toHaveProperty('fault');
    expect(shapeOf({ data: {} })).toHaveProperty('fault');
    expect(shapeOf({ metadata: { ...event.metadata, actor: 'somebody' } })).toHaveProperty('fault');
    expect(shapeOf({ metadata: { ...event.metadata, schemaVersion: '99' } })).toHaveProperty('fault');
  });

  it('never shows a value in what it says', () => {
    const [name = ''] = names;
    const { event } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { event: RecordedEvent };
    const secret = 'MARIA DE SOUZA';
    for (const field of Object.keys(event.data)) {
      const { fault = '' } = checkShape({
        ...event,
        position: 1n as LogPosition,
        data: { ...event.data, [field]: secret },
      }) as { fault?: string };
      expect(fault).not.toContain(secret);
    }
  });
});

describe('the public key', () => {
  it('is read in every form that somebody may have it in', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const raw = der.subarray(der.length - 32);
    const name = `ed25519:${raw.toString('base64url')}`;
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    for (const form of [
      name,
      ` ${name}\n`,
      pem,
      der.toString('base64'),
      raw.toString('base64'),
      raw.toString('base64url'),
    ]) {
      expect(readPublicKey(form)).toBe(name);
    }
    const { publicKey: other } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const rsa = other.export({ format: 'pem', type: 'spki' }).toString();
    for (const none of ['', 'abc', 'ed25519:short', rsa]) expect(readPublicKey(none)).toBeUndefined();
  });

  it('tells its own signature from every other', async () => {
    const [signer, stranger] = [testSigner(), testSigner()];
    const signature = await signer.sign('text');
    expect(isSignedBy(await signer.publicKey(), 'text', signature)).toBe(true);
    expect(isSignedBy(await signer.publicKey(), 'texts', signature)).toBe(false);
    expect(isSignedBy(await stranger.publicKey(), 'text', signature)).toBe(false);
    expect(isSignedBy('no key', 'text', signature)).toBe(false);
    expect(isSignedBy(await signer.publicKey(), 'text', 'no signature')).toBe(false);
  });
});
