import { expect, it } from 'vitest';
import type { InvoiceFacts } from '../../../src/domain/invoice/state.js';
import { askAgainAboutService } from '../../../src/runtime/roles/issuer.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { T0 } from '../../support/fixture/invoice.js';
import { movableClock } from '../../support/harness/event-store.js';

it.each([
  [['E0312'], [['live', '3304557', '01.01.01.000', T0]]],
  [['E0160', 'E0314'], [['live', '3304557', '01.01.01.000', T0]]],
  [['E0160'], []],
])('a refusal with %j has the answers about its service asked for again, or not', async (codes, expected) => {
  const asked: unknown[] = [];
  const facts = { mode: 'live', companyId: DEMO_CNPJ, serviceCode: '010101' } as InvoiceFacts;
  const deps = {
    cache: { askAgain: async (...question: unknown[]) => void asked.push(question) },
    company: async () => demoCompany(DEMO_CNPJ),
    clock: movableClock(T0),
  };
  await askAgainAboutService(facts, codes, deps);
  await askAgainAboutService(facts, codes, { ...deps, company: async () => undefined });
  const { serviceCode: _unknown, ...without } = facts;
  await askAgainAboutService(without, codes, deps);
  expect(asked).toEqual(expected);
});
