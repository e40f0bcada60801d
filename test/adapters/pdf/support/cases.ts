import { accessKeyCheckDigit } from '../../../../src/domain/common/access-key.js';
import type { PdfMarks } from '../../../../src/ports/pdf.js';
import { simulatorTables } from '../../../../src/runtime/engines/simulator-tables.js';
import { buildNfse } from '../../../../src/simulator/note/nfse.js';
import { readDps } from '../../../../src/simulator/rules/dps.js';
import { parseXml } from '../../../../src/xml/document.js';
import { sample } from '../../../support/fixture/samples.js';
import { fullXml } from './full-note.js';
import { alteredXml, marks, noteXml } from './notes.js';

/** A page whose image a person has checked: `reference/<name>.png`. */
export type Case = { name: string; xml(): Buffer; marks: PdfMarks };

/** The official samples: NFS-e as they are, DPS as the simulator authorizes them. For tests under `itWith('samples')`. */
export const sampleCases: readonly Case[] = [
  ...[
    'dps-01-me-epp-tomador-pj',
    'dps-02-me-epp-sem-tomador',
    'dps-03-mei-tomador-cpf',
    'dps-04-regime-normal-ibscbs',
    'dps-05-exportacao',
    'dps-06-substituicao',
  ].map((name): Case => ({ name, xml: () => issuedXml(sample(`${name}.xml`)), marks: marks() })),
  ...[
    'nfse-07-producao-me-epp-cpf',
    'nfse-08-restrita-ibscbs',
    'nfse-09-emissor-web-v1.00',
    'nfse-10-exportacao-construida',
  ].map((name): Case => ({ name, xml: () => sample(`${name}.xml`), marks: marks() })),
];

/** Cases that no sample covers. */
export const otherCases: readonly Case[] = [
  { name: 'every-group', xml: () => fullXml(), marks: marks() },
  { name: 'longest-texts', xml: () => fullXml({ described: 2000, added: 2000 }), marks: marks() },
  { name: 'canceled', xml: () => noteXml('production'), marks: marks({ canceled: true }) },
  { name: 'replaced-simulated', xml: () => noteXml('reform'), marks: marks({ replaced: true, simulated: true }) },
  {
    name: 'not-subject-2027',
    xml: () =>
      alteredXml('production', ['<tribISSQN>1<', '<tribISSQN>4<'], ['<dCompet>2026-03-03<', '<dCompet>2027-03-03<']),
    marks: marks(),
  },
];

/** The NFS-e that the simulator writes for a DPS, unsigned and always the same. */
const issuedXml = (dpsXml: Buffer): Buffer => {
  const parsed = parseXml(dpsXml);
  const dps = parsed.ok ? readDps(parsed.root) : undefined;
  if (dps === undefined) throw new Error('not a DPS');
  const number = 4200;
  const first49 = `${dps.municipality}22${dps.emitter.padStart(14, '0')}${String(number).padStart(13, '0')}2609123456789`;
  const xml = buildNfse({
    dps,
    dpsText: dpsXml.toString('utf8').replace(/^<\?xml[^>]*\?>\s*/, ''),
    accessKey: `${first49}${accessKeyCheckDigit(first49)}`,
    number,
    documentNumber: 9000,
    verAplic: 'SefinNac_Pre_1.4.0',
    processedAt: '2026-09-15T13:30:05.000Z',
    defaultRate: '5.00',
    holderName: 'Estúdio Exemplo Ltda',
    tables: simulatorTables,
  });
  return Buffer.from(xml, 'utf8');
};
