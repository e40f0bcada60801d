import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { invoiceViewCommands } from '../../src/cli/commands/invoice-views.js';
import { keyCommands } from '../../src/cli/commands/key.js';
import { municipalityCommands } from '../../src/cli/commands/municipality.js';
import { parkedCommands } from '../../src/cli/commands/parked.js';
import { catalogCommands } from '../../src/cli/commands/reference-data.js';
import { runCommand } from '../../src/cli/run.js';
import type { Session } from '../../src/cli/session.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const ID = 'nfse_00000000-0000-4000-8000-000000000000';

const commands = [
  ...companyCommands,
  ...keyCommands,
  ...certificateCommands,
  ...invoiceCommands,
  ...invoiceViewCommands,
  ...eventCommands,
  ...auditCommands(),
  ...municipalityCommands,
  ...parkedCommands,
  ...catalogCommands,
];

describeWithPostgres('an operator while the rows are behind the log, as after a restore', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([]);
  });
  afterAll(() => operator.close());

  const saidBy = async (
    argv: readonly string[],
    behind: readonly string[],
    rows: Partial<Session['readModel']> = {},
  ): Promise<readonly string[]> => {
    const said: string[] = [];
    const terminal = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) };
    const { session } = operator;
    const open = async () => ({
      ...session,
      readModel: { ...session.readModel, ...rows },
      projectionsBehind: async () => behind,
    });
    await runCommand(argv, commands, open, terminal);
    return said;
  };

  it.each([
    { argv: ['company', 'list'], reads: 'companies' },
    { argv: ['company', 'show', CNPJ], reads: 'companies' },
    { argv: ['company', 'usage', CNPJ, '--month', '2026-11'], reads: 'companies' },
    { argv: ['key', 'list', CNPJ], reads: 'companies' },
    { argv: ['key', 'revoke', 'key_1'], reads: 'credentials' },
    { argv: ['certificate', 'issue-demo', CNPJ], reads: 'companies' },
    { argv: ['invoice', 'timeline', ID], reads: 'companies' },
    { argv: ['invoice', 'show', ID], reads: 'companies' },
    { argv: ['invoice', 'resolve', ID, '--as', 'failed', '--evidence', 'none'], reads: 'companies' },
    { argv: ['events', 'show', ID], reads: 'companies' },
    { argv: ['events', 'search', '--company', CNPJ], reads: 'companies' },
    { argv: ['events', 'export', '--company', CNPJ, '--out', 'out.ndjson'], reads: 'companies' },
    { argv: ['audit', 'replay', ID, '--at', '2026-11-21'], reads: 'companies' },
    { argv: ['parked', 'retry', ID], reads: 'companies' },
    { argv: ['catalog', 'export', '--company', CNPJ], reads: 'companies' },
    { argv: ['municipality', 'show', '3550308'], reads: 'municipalities' },
  ])('is told by $argv that more is unknown, before the answer', async ({ argv, reads }) => {
    const line = `more is unknown until the projections have caught up (${reads})`;
    const [first, answer, ...more] = await saidBy(argv, [reads, 'deadlines']);
    expect(first).toBe(line);
    expect(await saidBy(argv, ['deadlines'])).toEqual([answer]);
    expect(more).toEqual([]);
  });

  it('gets the recorded lines by catalog export, so that the import of the export undoes nothing', async () => {
    const file = join(operator.folder, 'lines.tsv');
    await writeFile(file, 'cnae\tservice_code\tnbs\tdescription\tis_default\n6201501\t010101\t\tConfirmada\ttrue\n');
    await saidBy(['catalog', 'import', file], []);
    const [, exported = ''] = await saidBy(['catalog', 'export'], ['catalog_lines'], {
      catalogLines: async () => new Map(),
    });
    const [header, ...lines] = exported.split('\n');
    await writeFile(file, [header, ...lines.filter((line) => line.startsWith('6201501'))].join('\n'));
    expect(await saidBy(['catalog', 'import', file], [])).toEqual(['1 line of 1 CNAE on record, 0 CNAEs changed']);
    expect(await operator.session.log.read('catalog-6201501')).toHaveLength(1);
  });
});
