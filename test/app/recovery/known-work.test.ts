import { describe, expect, it } from 'vitest';
import { compareRestoredLog } from '../../../src/app/recovery/recover-log.js';
import { type CompanyId, invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { DEMO_CNPJ, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { imported, T0 } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, recoveryHarness } from '../../support/harness/recovery.js';

describe('a forgotten live note that was imported', () => {
  it.each<[string, Mode, CompanyId, boolean]>([
    ['accounted for by an import in its mode and company', 'live', DEMO_CNPJ, true],
    ['without an invoice after an import in test mode', 'test', DEMO_CNPJ, false],
    ['without an invoice after an import of another company', 'live', OTHER_CNPJ, false],
  ])('is %s', async (_name, mode, companyId, isDone) => {
    const { deps, register } = await recoveryHarness();
    const { accessKey } = register(7, 3);
    const stream = invoiceStream(mode, companyId, idOf(8));
    const event = imported({ mode, companyId, invoiceId: idOf(8), accessKey, amountInCents: 150_000 });
    await appendTo(deps.store, stream, [event], T0);
    const report = await compareRestoredLog(deps, false);
    expect(report).toMatchObject({
      isDone,
      unknown: isDone ? [] : [{ mode: 'live', companyId: DEMO_CNPJ, accessKey }],
    });
  });
});
