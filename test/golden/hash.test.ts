import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type HashedEvent, hashText, NotCanonical } from '../../src/domain/log/hash-text.js';

type Vector = { stream: string; revision: number; event: HashedEvent; text: string; sha256: string };

const folder = fileURLToPath(new URL('./hash/', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const textOf = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');
const vectorOf = (name: string) => JSON.parse(textOf(name)) as Vector;
const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** The text to hash, written here without the product's code, so that a change of `hashText` cannot change the expectation. */
const byTheDesign = ({ stream, revision, event }: Vector): string => {
  const { hash: _hash, ...metadata } = event.metadata;
  const pairs = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([1, metadata['prevHash'], stream, revision, event.id, event.type, pairs, sorted(event.data)]);
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]));
};

describe('hash vectors', () => {
  it('never change', () => {
    const listed = readFileSync(`${folder}CHECKSUMS`, 'utf8').trimEnd().split('\n');
    expect(names.map((name) => `${sha256(textOf(name))}  ${name}`).toSorted()).toEqual(listed.toSorted());
  });

  it.each(names)('%s', (name) => {
    const vector = vectorOf(name);
    const { stream, revision, event, text } = vector;
    expect(hashText(stream, revision, event)).toBe(text);
    expect(byTheDesign(vector)).toBe(text);
    expect(sha256(text)).toBe(vector.sha256);
  });

  it.each([
    ['null', { a: null }],
    ['a fraction', { a: 1.5 }],
    ['an unsafe integer', { a: 2 ** 53 }],
    ['not a number', { a: Number.NaN }],
    ['a numeric key', { a: { '10': 1 } }],
    ['undefined', { a: undefined }],
    ['a date', { a: new Date(0) }],
    ['a hole', { a: [, 1] }],
  ])('there is none for %s', (_what, data) => {
    const event = { id: 'i', type: 't', data, metadata: { prevHash: '' } };
    expect(() => hashText('s', 0, event)).toThrow(NotCanonical);
  });
});
