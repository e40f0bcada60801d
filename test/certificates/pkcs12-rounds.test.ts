import forge from 'node-forge';
import { describe, expect, it } from 'vitest';
import { asksForTooManyRounds } from '../../src/certificates/pkcs12-rounds.js';
import { sealedPartOf } from '../support/fixture/pfx.js';

const { Class, Type, create, toDer } = forge.asn1;

type Node = forge.asn1.Asn1;

const PASSWORD = 'segredo';

const sequence = (...fields: Node[]): Node => create(Class.UNIVERSAL, Type.SEQUENCE, true, fields);
const octets = (value: string | Node[]): Node => create(Class.UNIVERSAL, Type.OCTETSTRING, Array.isArray(value), value);
const integer = (hex: string): Node =>
  create(Class.UNIVERSAL, Type.INTEGER, false, Buffer.from(hex, 'hex').toString('binary'));
const derivation = (hex: string): Node => sequence(octets('salt'), integer(hex));
const bytes = (node: Node): string => toDer(node).getBytes();
const repeated = (times: number, node: Node): Node => sequence(...Array.from({ length: times }, () => node));

/** Rounds in hex. */
const TWO_MILLION = '1e8480';
const ONE_MORE = '1e8481';
const A_MILLION = '0f4240';
const OF_A_BROWSER = '0927c0';

it.each([
  ['two million rounds', derivation(TWO_MILLION), false],
  ['one more', derivation(ONE_MORE), true],
  ['a count that a careless reader takes for a negative one', derivation('ffffffff'), true],
  ['none', derivation(''), false],
  ['the MAC, behind its digest', sequence(sequence(), octets('salt'), integer(ONE_MORE)), true],
  ['a part in a string', octets(bytes(sequence(derivation(ONE_MORE)))), true],
  [
    'a part in a string of two pieces',
    octets([octets(bytes(derivation(ONE_MORE)).slice(0, 4)), octets(bytes(derivation(ONE_MORE)).slice(4))]),
    true,
  ],
  ['a bag in a part in a string', octets(bytes(octets(bytes(derivation(ONE_MORE))))), true],
  [
    'a string in a bag, such as a certificate',
    octets(bytes(octets(bytes(octets(bytes(derivation(ONE_MORE))))))),
    false,
  ],
  ['two of a million', repeated(2, derivation(A_MILLION)), false],
  ['two of a million and a short one', sequence(repeated(2, derivation(A_MILLION)), derivation('01')), true],
  ['a MAC and two parts as browsers write them', repeated(3, derivation(OF_A_BROWSER)), false],
  ['two thousand derivations of one round', repeated(2_000, derivation('01')), false],
  ['one more of them', repeated(2_001, derivation('01')), true],
  [
    'the base point and the order of a curve',
    sequence(integer('01'), sequence(), sequence(), octets('G'), integer('ffffffff')),
    false,
  ],
])('sees the rounds: %s', (_what, node, expected) => {
  expect(asksForTooManyRounds(node, PASSWORD)).toBe(expected);
});

describe('a sealed part', () => {
  const sealed = (content: Node, password = PASSWORD): Node => sealedPartOf(content, password);
  const inPieces = (part: Node): Node => {
    const [type, algorithm, content] = part.value as [Node, Node, Node];
    const text = String(content.value);
    const pieces = [octets(text.slice(0, 5)), octets(text.slice(5))];
    return sequence(type, algorithm, create(Class.CONTEXT_SPECIFIC, 0 as forge.asn1.Type, true, pieces));
  };

  it.each([
    ['what asks for too much', sealed(derivation(ONE_MORE)), true],
    ['the same, in pieces', inPieces(sealed(derivation(ONE_MORE))), true],
    ['the same, under another password', sealed(derivation(ONE_MORE), 'outra'), false],
    ['what asks for little', sealed(derivation('01')), false],
    [
      'what asks for too much together with what is outside',
      sequence(derivation(A_MILLION), sealed(derivation(A_MILLION))),
      true,
    ],
    ['bytes that are no part', sealed(octets('x')), false],
  ])('is opened, and holds %s', (_what, node, expected) => {
    expect(asksForTooManyRounds(node, PASSWORD)).toBe(expected);
  });

  it('is not opened when that takes too many rounds', () => {
    const part = sealed(derivation('01'));
    const [, algorithm] = part.value as [Node, Node];
    const [, parameters] = algorithm.value as [Node, Node];
    (parameters.value as Node[])[1] = integer('7fffffff');
    expect(asksForTooManyRounds(part, PASSWORD)).toBe(true);
  });

  it('with an algorithm that node-forge does not know is refused as node-forge refuses it', () => {
    const part = sealed(derivation('01'));
    const [, algorithm] = part.value as [Node, Node];
    const [oid] = algorithm.value as [Node];
    oid.value = forge.asn1.oidToDer('1.2.3.4').getBytes();
    expect(() => asksForTooManyRounds(part, PASSWORD)).toThrow('Unsupported');
  });
});
