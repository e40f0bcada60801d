import { describe, expect, it } from 'vitest';
import { accessKeyCheckDigit, isAccessKey } from '../../../src/domain/common/access-key.js';
import { dpsStream, invoiceStream, parseInvoiceStream } from '../../../src/domain/common/ids.js';
import { buildCancellation } from '../../../src/domain/dps/build-cancellation.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { CUSTOMER_DOCUMENT } from '../../../src/http/body/issue-schema.js';
import { newAccessKey } from '../../../src/simulator/note/access-key.js';
import { brokenCodes } from '../../support/fixture/broken-codes.js';
import { type Accepted, acceptedFacts } from '../../support/fixture/dps-facts.js';
import { schemaFaults } from '../../support/schema.js';

/** The Receita's own example of a CNPJ with letters. */
const COMPANY = '12ABC34501DE35';
const CUSTOMER = 'ZZ9YX8WV7U6T49';

const accepted: Accepted = acceptedFacts({
  companyId: COMPANY,
  customer: { type: 'br', document: CUSTOMER, name: 'CLIENTE SA' },
});

describe('a CNPJ with letters', () => {
  it('is the provider and the customer of a DPS, with every character of the id as it is', () => {
    const { id, xml } = buildDps({ mode: 'test', series: '1', number: 7, accepted, currencyCode: () => undefined });
    expect(id).toBe('DPS2111300212ABC34501DE3500001000000000000007');
    expect(xml).toContain(`<prest><CNPJ>${COMPANY}</CNPJ>`);
    expect(xml).toContain(`<toma><CNPJ>${CUSTOMER}</CNPJ><xNome>CLIENTE SA</xNome></toma>`);
    expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
  });

  it('is no fault for the authorizer when its check digits are right', () => {
    const build = (companyId: string) => {
      const facts = acceptedFacts({ companyId });
      const input = { mode: 'test' as const, series: '1', number: 7, accepted: facts, currencyCode: () => undefined };
      return brokenCodes(buildDps(input).xml, facts);
    };
    expect(build(COMPANY)).toEqual([]);
    expect(build(COMPANY.replace('35', '36').replace('12A', '12B'))).toEqual(['E0080']);
  });

  it('makes access keys whose check digit counts a letter as its ASCII code less 48', () => {
    const key = newAccessKey({ municipality: '2111300', emitter: COMPANY, number: 7, at: '2026-11-21T12:00:00.000Z' });
    expect(key.slice(9, 23)).toBe(COMPANY);
    expect(isAccessKey(key)).toBe(true);
    // 17 times the weight 2 leaves 1, which gives 0; 18 times leaves 3, which gives 8.
    expect(accessKeyCheckDigit('A'.padStart(49, '0'))).toBe('0');
    expect(accessKeyCheckDigit('B'.padStart(49, '0'))).toBe('8');
    const { xml } = buildCancellation({
      mode: 'test',
      companyId: COMPANY,
      accessKey: key,
      reason: 'other',
      description: 'Serviço não prestado',
      requestedAt: '2026-11-21T12:00:00.000Z',
    });
    expect(xml).toContain(`<CNPJAutor>${COMPANY}</CNPJAutor><chNFSe>${key}</chNFSe>`);
    expect(schemaFaults('pedRegEvento', Buffer.from(xml))).toEqual([]);
  });

  it('names streams that are found again', () => {
    const invoiceId = accepted.invoiceId;
    const stream = invoiceStream('live', COMPANY, invoiceId);
    expect(parseInvoiceStream(stream)).toEqual({ mode: 'live', companyId: COMPANY, invoiceId });
    expect(dpsStream('live', COMPANY, '1')).toBe(`dpsLive-${COMPANY}_1`);
  });

  it('is what the API itself does not take from a customer yet', () => {
    expect(CUSTOMER_DOCUMENT.test(CUSTOMER)).toBe(false);
    expect(CUSTOMER_DOCUMENT.test('11111111000191')).toBe(true);
    expect(CUSTOMER_DOCUMENT.test('12345678909')).toBe(true);
  });
});
