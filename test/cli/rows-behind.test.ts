import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { keyCommands } from '../../src/cli/commands/key.js';
import { runCommand } from '../../src/cli/run.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';

describeWithPostgres('an operator while the rows are behind the log, as after a restore', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([]);
  });
  afterAll(() => operator.close());

  const saidBy = async (argv: readonly string[], ...behind: readonly string[]): Promise<readonly string[]> => {
    const said: string[] = [];
    const terminal = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) };
    const session = async () => ({ ...operator.session, projectionsBehind: async () => behind });
    await runCommand(argv, [...companyCommands, ...keyCommands, ...certificateCommands], session, terminal);
    return said;
  };

  it.each([
    { argv: ['company', 'list'], reads: 'companies' },
    { argv: ['company', 'show', CNPJ], reads: 'companies' },
    { argv: ['company', 'usage', CNPJ, '--month', '2026-11'], reads: 'companies' },
    { argv: ['key', 'list', CNPJ], reads: 'companies' },
    { argv: ['key', 'revoke', 'key_1'], reads: 'credentials' },
    { argv: ['certificate', 'issue-demo', CNPJ], reads: 'companies' },
  ])('is told by $argv that more is unknown, before the answer', async ({ argv, reads }) => {
    const line = `more is unknown until the projections have caught up (${reads})`;
    const [first, answer, ...more] = await saidBy(argv, reads, 'deadlines');
    expect(first).toBe(line);
    expect(await saidBy(argv, 'deadlines')).toEqual([answer]);
    expect(more).toEqual([]);
  });
});
