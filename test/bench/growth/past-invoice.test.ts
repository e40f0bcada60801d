import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { pastInvoice } from './past-invoice.js';

const owner = { mode: 'live', companyId: demoCompany().cnpj } as const;

describe('a generated invoice of the growth bench', () => {
  it.each([1, 41, 100, 101, 102])(
    'number %i has documents that can be opened, as a starting service does',
    (number) => {
      const { events } = pastInvoice(owner, number, '2026-11-01T12:00:00.000Z');
      const documents = events.flatMap(({ data }) =>
        Object.entries(data).flatMap(([name, value]) => (name.endsWith('Gzip') ? [String(value)] : [])),
      );
      expect(documents.length).toBeGreaterThan(0);
      for (const document of documents)
        expect(gunzipSync(Buffer.from(document, 'base64')).length).toBeGreaterThan(1_000);
    },
  );
});
