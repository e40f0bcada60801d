import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildCancellation } from '../../../src/domain/dps/build-cancellation.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { parseXml } from '../../../src/xml/document.js';
import { nodeAt, type XmlValue } from '../../../src/xml/parse.js';
import type { Difference, Situation } from '../../support/fixture/sample-difference.js';
import { dpsSituations } from '../../support/fixture/sample-dps.js';
import { noteSituations } from '../../support/fixture/sample-notes.js';
import { sample, samplesFolder } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';
import { schemaFaults } from '../../support/schema.js';

const currencyCode = (iso: string): string | undefined => ({ USD: '220' })[iso];

const rebuilt = ({ accepted, series, number }: Situation): string =>
  buildDps({ mode: accepted.mode, series, number, accepted, currencyCode }).xml;

type Row = readonly [path: string, sample: string | null, ours: string | null];

const differing = (theirs: Leaves, ours: Leaves): readonly Row[] =>
  [...new Set([...theirs.keys(), ...ours.keys()])]
    .filter((path) => theirs.get(path) !== ours.get(path))
    .map((path): Row => [path, theirs.get(path) ?? null, ours.get(path) ?? null])
    .toSorted(byPath);

const listed = (differences: readonly Difference[]): readonly Row[] =>
  differences.map(([path, theirs, ours]): Row => [path, theirs, ours]).toSorted(byPath);

const byPath = (a: readonly unknown[], b: readonly unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);

const CANCELLATIONS: readonly [file: string, root: string][] = [
  ['pedregevento-11-cancelamento-e101101.xml', 'pedRegEvento'],
  ['evento-12-cancelamento-e101101.xml', 'evento/infEvento/pedRegEvento'],
];

const situations = [...dpsSituations, ...noteSituations];

describe('the situations of the twelve samples', () => {
  for (const situation of situations) {
    const { file, root, differences } = situation;
    itWith(
      'samples',
      `${file} is rebuilt field by field, but for ${differences.length} differences with a reason`,
      () => {
        expect(differing(leavesOf(sample(file), root), leavesOf(rebuilt(situation), 'DPS'))).toEqual(
          listed(differences),
        );
      },
    );

    it(`${file} is a situation whose document passes the official schema`, () => {
      expect(schemaFaults('DPS', Buffer.from(rebuilt(situation)))).toEqual([]);
    });
  }

  for (const [file, root] of CANCELLATIONS) {
    itWith('samples', `${file} is rebuilt field by field, but for the name of the program`, () => {
      const { xml } = buildCancellation({
        mode: 'live',
        companyId: '12345678000195',
        reason: 'issuance_error',
        accessKey: '21113002212345678000195000000000146726037032711027',
        description: 'Valor do serviço informado incorretamente',
        requestedAt: '2026-03-04T16:35:49.000Z',
      });
      const programs = [['infPedReg/verAplic', 'Exemplo_1.0', 'nfse-issuance_1']];
      expect(differing(leavesOf(sample(file), root), leavesOf(xml, 'pedRegEvento'))).toEqual(programs);
    });
  }

  itWith('samples', 'are all there: none was added to the folder without being rebuilt', () => {
    const files = readdirSync(samplesFolder).filter((name) => name.endsWith('.xml'));
    expect([...situations.map(({ file }) => file), ...CANCELLATIONS.map(([file]) => file)].toSorted()).toEqual(
      files.toSorted(),
    );
  });
});

/** Text of every leaf and attribute of a document's element by its path: what a field by field comparison compares. */
type Leaves = ReadonlyMap<string, string>;

/** `root` is the path of the element in the document; its signature is left out, for another key made it. */
const leavesOf = (xml: string | Buffer, root: string): Leaves => {
  const parsed = parseXml(Buffer.from(xml));
  if (!parsed.ok) throw new Error(parsed.reason);
  const found = nodeAt(parsed.root, root);
  if (found === undefined) throw new Error(`the document has no ${root}`);
  const leaves = new Map<string, string>();
  collect(found, '', leaves);
  return leaves;
};

const collect = (node: XmlValue, path: string, leaves: Map<string, string>): void => {
  if (typeof node === 'string') {
    leaves.set(path, node);
    return;
  }
  for (const [name, value] of Object.entries(node)) {
    if (name !== 'Signature' && name !== '@xmlns') collect(value, path === '' ? name : `${path}/${name}`, leaves);
  }
};
