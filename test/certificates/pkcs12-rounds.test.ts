import forge from 'node-forge';
import { expect, it } from 'vitest';
import { asksForTooManyRounds } from '../../src/certificates/pkcs12-rounds.js';

const { Class, Type, create, toDer } = forge.asn1;

type Node = forge.asn1.Asn1;

const sequence = (...fields: Node[]): Node => create(Class.UNIVERSAL, Type.SEQUENCE, true, fields);
const octets = (value: string | Node[]): Node => create(Class.UNIVERSAL, Type.OCTETSTRING, Array.isArray(value), value);
const integer = (hex: string): Node =>
  create(Class.UNIVERSAL, Type.INTEGER, false, Buffer.from(hex, 'hex').toString('binary'));
const derivation = (hex: string): Node => sequence(octets('salt'), integer(hex));
const bytes = (node: Node): string => toDer(node).getBytes();

it.each([
  ['a million rounds', derivation('0f4240'), false],
  ['one more', derivation('0f4241'), true],
  ['a count that a careless reader takes for a negative one', derivation('ffffffff'), true],
  ['none', derivation(''), false],
  ['the MAC, behind its digest', sequence(sequence(), octets('salt'), integer('0f4241')), true],
  ['a part in a string', octets(bytes(sequence(derivation('0f4241')))), true],
  [
    'a part in a string of two pieces',
    octets([octets(bytes(derivation('0f4241')).slice(0, 4)), octets(bytes(derivation('0f4241')).slice(4))]),
    true,
  ],
  [
    'the base point and the order of a curve',
    sequence(integer('01'), sequence(), sequence(), octets('G'), integer('ffffffff')),
    false,
  ],
])('sees the rounds: %s', (_what, node, expected) => {
  expect(asksForTooManyRounds(node)).toBe(expected);
});
