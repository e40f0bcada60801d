import { describe, expect, it } from 'vitest';
import { buildCancellation, type CancellationInput } from '../../../src/domain/dps/build-cancellation.js';
import { VER_APLIC } from '../../../src/domain/dps/layout.js';
import { unsignedSample } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';
import { schemaFaults } from '../../support/schema.js';

const accessKey = '21113002212345678000195000000000146726037032711027';
const input: CancellationInput = {
  mode: 'live',
  companyId: '12345678000195',
  accessKey,
  reason: 'issuance_error',
  description: 'Valor do serviço informado incorretamente',
  requestedAt: '2026-03-04T16:35:49.000Z',
};

describe('buildCancellation', () => {
  itWith('samples', 'rebuilds the sample', () => {
    const sample = unsignedSample('pedregevento-11-cancelamento-e101101.xml');
    expect(buildCancellation(input)).toEqual({
      id: `PRE${accessKey}101101`,
      xml: sample.replace('<verAplic>Exemplo_1.0<', `<verAplic>${VER_APLIC}<`),
    });
  });

  it.each([
    ['issuance_error', '1'],
    ['service_not_provided', '2'],
    ['other', '9'],
  ] as const)('gives %s the code %s', (reason, code) => {
    const { xml } = buildCancellation({ ...input, reason, description: 'Pedido — “em dobro”\npelo cliente' });
    expect(xml).toContain(`<cMotivo>${code}</cMotivo><xMotivo>Pedido - "em dobro" pelo cliente</xMotivo>`);
    expect(schemaFaults('pedRegEvento', Buffer.from(xml))).toEqual([]);
  });
});
