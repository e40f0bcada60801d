import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { modulo11Digit } from '../../src/domain/common/cnpj.js';
import { companyFile } from '../support/fixture/company.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const cnpjOf = (n: number): string => {
  const twelve = `2${String(n).padStart(7, '0')}0001`;
  const first = twelve + modulo11Digit(twelve, 9);
  return first + modulo11Digit(first, 9);
};

describeWithPostgres('the statements of a report on all companies', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([...companyCommands, doctorCommand]);
  });
  afterAll(() => operator.close());

  const register = async (from: number, to: number): Promise<void> => {
    const path = join(operator.folder, 'company.json');
    for (let n = from; n < to; n += 1) {
      await writeFile(path, JSON.stringify({ ...companyFile, cnpj: cnpjOf(n) }));
      await operator.run('company', 'put', path);
      await operator.run('company', 'enable', cnpjOf(n));
    }
  };
  const statements = async (): Promise<number> => {
    const taken = vi.spyOn(pg.Pool.prototype, 'connect');
    const { out } = await operator.run('doctor');
    expect(out).toContain('none: the company is enabled');
    const count = taken.mock.calls.length;
    taken.mockRestore();
    return count;
  };

  it('are not more with more companies', async () => {
    await register(0, 2);
    const few = await statements();
    await register(2, 10);
    expect(await statements()).toBeLessThanOrEqual(few + 4);
  });
});
