import { expect, it } from 'vitest';
import { invoiceIdOfAccessKey } from '../../../src/app/event-store/hashes.js';
import { compareRestoredLog } from '../../../src/app/recovery/recover-log.js';
import { logRecoveryChecks } from '../../../src/cli/commands/recovery-checks.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { AuthorizedNote } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { accepted, at, attempted, conflictFound, imported, interrupted } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const KEPT_FOR = `nfse_${idOf(9)}`;

/** An import of the note as invoice 9 died between the reservation of the access key and the invoice. */
const reserveFor9 = async ({ deps: { store } }: RecoveryHarness, { accessKey }: AuthorizedNote): Promise<void> => {
  const stream = invoiceStream('live', DEMO_CNPJ, invoiceIdOfAccessKey('live', DEMO_CNPJ, accessKey));
  await appendTo(store, stream, [{ type: 'ReferenceTaken', data: { invoiceId: idOf(9), takenAt: at(30) } }], at(30));
};

const lineOf = async ({ deps }: RecoveryHarness): Promise<{ detail: string; cure: string }> => {
  const report = await compareRestoredLog(deps, false);
  if ('refused' in report) throw new Error(report.refused);
  const checks = logRecoveryChecks({ kind: 'compared', resumed: false, ...report });
  const { detail = '', cure = '' } = checks.find(({ name }) => name.startsWith('note without invoice')) ?? {};
  return { detail, cure };
};

const IMPORT = new RegExp(`run that import again, or nfse invoice import .*"id":"${KEPT_FOR}"`);

it('a note that a dead import has kept is named with that import and the line that completes it', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 1);
  await reserveFor9(harness, note);
  const { detail, cure } = await lineOf(harness);
  expect(detail).toContain(`kept for ${KEPT_FOR}, which is not on record, because an import ended early`);
  expect(cure).toMatch(IMPORT);
  const given = imported({ mode: 'live', invoiceId: idOf(9), accessKey: note.accessKey });
  await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, idOf(9)), [given], at(40));
  expect(await lineOf(harness)).toEqual({ detail: '', cure: '' });
});

it('a kept note that an open invoice sent is not called a second note of that invoice', async () => {
  const harness = await recoveryHarness();
  await harness.accept(7);
  await reserveFor9(harness, harness.register(7, 1));
  const { detail, cure } = await lineOf(harness);
  expect(detail).toContain(`kept for ${KEPT_FOR}`);
  expect(cure).toMatch(new RegExp(`^ask the client whether the note is of nfse_${idOf(7)}\\. If not: .*${KEPT_FOR}`));
  expect(cure).toMatch(/If so, no import can give it the note: cancel this note/);
  expect(cure).not.toContain('has its own note besides');
});

it('a kept note that an indeterminate invoice met is completed by its import, and is not canceled', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 3);
  await harness.stop(7, 3, at(20));
  const place = { dpsId: dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 3 }) };
  const [sent, met] = [attempted(1, 25), conflictFound(1, 26, true)];
  const events = [
    accepted({ mode: 'live', invoiceId: idOf(7), description: 'Pedido 7', acceptedAt: at(20) }),
    { type: sent.type, data: { ...sent.data, number: 3, ...place } } as InvoiceEvent,
    { type: met.type, data: { ...met.data, accessKey: note.accessKey, ...place } } as InvoiceEvent,
    interrupted,
  ];
  await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, idOf(7)), events, at(20));
  await reserveFor9(harness, note);
  const { cure } = await lineOf(harness);
  expect(cure).toMatch(IMPORT);
  expect(cure).toContain(
    `ask the client whether the note is of nfse_${idOf(7)}. If so, leave that invoice indeterminate`,
  );
  expect(cure).not.toContain('cancel');
});

it('a note that is reserved for an invoice on record is not called kept', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 1);
  await appendTo(
    harness.deps.store,
    invoiceStream('live', DEMO_CNPJ, idOf(9)),
    [accepted({ mode: 'live', invoiceId: idOf(9), amountInCents: 9_900, acceptedAt: at(20) })],
    at(20),
  );
  await reserveFor9(harness, note);
  const { detail } = await lineOf(harness);
  expect(detail).toContain(note.accessKey);
  expect(detail).not.toContain('kept for');
});

it('a kept note of a failed invoice is canceled, and its import is not run again', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 1);
  await harness.accept(7);
  const failed = { type: 'NotProcessed', data: { failedAt: at(920), at: at(921) } } as const;
  await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, idOf(7)), [failed], at(921));
  await reserveFor9(harness, note);
  const { detail, cure } = await lineOf(harness);
  expect(detail).toMatch(new RegExp(`kept for ${KEPT_FOR}, .*belongs to nfse_${idOf(7)}, which has failed`));
  expect(cure).toMatch(new RegExp(`cancel this note .*Do not run the import of ${KEPT_FOR} again$`));
});

it('a kept note whose request was accepted again names the open invoice, and ends by the instant of the line', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 3);
  const again = accepted({ mode: 'live', invoiceId: idOf(8), description: 'Pedido 8', acceptedAt: at(20) });
  await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, idOf(8)), [again], at(20));
  await reserveFor9(harness, note);
  const { cure } = await lineOf(harness);
  expect(cure).toMatch(new RegExp(`^ask the client whether the note is of nfse_${idOf(8)}\\. If not: run that import`));
  expect(cure).toContain('--accept-unknown does not end the pause before that');
});
