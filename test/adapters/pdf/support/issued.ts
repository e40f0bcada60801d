import { accessKeyCheckDigit } from '../../../../src/domain/common/access-key.js';
import { simulatorTables } from '../../../../src/runtime/engines/simulator-tables.js';
import { buildNfse } from '../../../../src/simulator/note/nfse.js';
import { readDps } from '../../../../src/simulator/rules/dps.js';
import { parseXml } from '../../../../src/xml/parse.js';

/** The NFS-e that the simulator writes for a DPS, unsigned and always the same. */
export const issuedXml = (dpsXml: Buffer): Buffer => {
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
