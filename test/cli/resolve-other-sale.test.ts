import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { companyStream, invoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { demoCompany } from '../support/fixture/demo.js';
import { ACCESS_KEY, accepted, at, attempted, conflictFound, interrupted } from '../support/fixture/invoice.js';
import { appendTo, movableClock } from '../support/harness/event-store.js';
import { fakeAuthorizer } from '../support/harness/fake-authorizer.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const ID = '22222222-2222-4222-8222-222222222222';

describeWithPostgres('nfse invoice resolve --as failed', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator(invoiceCommands, undefined, {}, movableClock(at(200_000)));
  });
  afterAll(() => operator.close());

  it('passes on the notes that the operator has compared', async () => {
    const { type, data } = conflictFound(1, 60);
    const met = { type, data: { ...data, accessKey: ACCESS_KEY } } as InvoiceEvent;
    const events = [accepted({ invoiceId: ID }), attempted(1, 1), met, interrupted];
    await appendTo(operator.session.store, invoiceStream('live', CNPJ, ID), events, at(3_603));
    const { registration } = demoCompany(CNPJ);
    const company = { type: 'CompanyRegistered', data: { registration, at: at(0) } } as const;
    await appendTo(operator.session.store, companyStream(CNPJ), [company], at(0));
    for (const name of ['companies', 'invoices'] as const)
      expect(await operator.session.projections.rebuild(name, () => undefined)).toHaveProperty('done');
    const resolve = async (flags: Readonly<Record<string, string[]>>) =>
      await invoiceCommands
        .find(({ name }) => name === 'invoice resolve')
        ?.run({
          positionals: [`nfse_${ID}`],
          flags: { as: 'failed', evidence: 'portal', ...flags },
          actor: 'ana',
          terminal: { out: () => undefined, err: () => undefined },
          session: async () => ({
            ...operator.session,
            settleDeps: async (actor) => ({
              ...(await operator.session.settleDeps(actor)),
              authorizer: fakeAuthorizer(),
            }),
          }),
        });
    expect(await resolve({})).toMatchObject({ exit: 1, text: expect.stringContaining(`--other-sale ${ACCESS_KEY}`) });
    expect(await resolve({ 'other-sale': [ACCESS_KEY] })).toMatchObject({
      exit: 0,
      text: `nfse_${ID} is settled as failed, the notes under its numbers are of other sales`,
    });
  });
});
