import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { companyCommands } from '../../src/cli/commands/company.js';
import { companyStream } from '../../src/domain/common/ids.js';
import { companyFile } from '../support/fixture/company.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = companyFile.cnpj;

const FILES = {
  'the required fields': companyFile,
  'every group': {
    ...companyFile,
    tax_regime: 'normal',
    special_regime: 0,
    approximate_tax_percent: '6.00',
    approximate_taxes: [
      { from: '2027-01-01', federal: '13.45', state: '0.00', municipal: '2.90', service_code: '010101' },
    ],
    municipal_registration: { live: '12345678', test: null },
    dps: { live: { series: '7', next_number: 40 }, test: { series: '8', next_number: 2 } },
    municipal_codes: { '010101': '003' },
    ibs_cbs: { declare: true, '010101': { ind_op: '100301', class_trib: '000001' } },
  },
};

describeWithPostgres('nfse company show', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator(companyCommands);
  });
  afterAll(() => operator.close());

  const put = async (text: string) => {
    const path = join(operator.folder, 'company.json');
    await writeFile(path, text);
    return await operator.run('company', 'put', path);
  };

  it.each(Object.entries(FILES))(
    'with --file prints what company put takes and leaves as it is: %s',
    async (_what, file) => {
      expect(await put(JSON.stringify(file))).toMatchObject({ exit: 0 });
      const events = async () => (await operator.session.store.load(companyStream(CNPJ))).events;
      const before = await events();
      const shown = await operator.run('company', 'show', CNPJ, '--file');
      expect(JSON.parse(shown.out)).toMatchObject(file);
      expect(await put(shown.out)).toMatchObject({ exit: 0 });
      expect(await events()).toEqual(before);
    },
  );

  it('prints more fields without --file, and company put refuses that output and names --file', async () => {
    const { out } = await operator.run('company', 'show', CNPJ);
    expect(JSON.parse(out)).toMatchObject({ enabled: false, keys: 0, municipal_codes: { '010101': '003' } });
    expect(await put(out)).toMatchObject({
      exit: 1,
      err: expect.stringContaining('nfse company show CNPJ --file prints the file'),
    });
  });
});
