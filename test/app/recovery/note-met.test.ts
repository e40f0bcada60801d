import { expect, it } from 'vitest';
import { compareRestoredLog, type RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { AuthorizedNote } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import {
  accepted,
  at,
  attempted,
  authorizedData,
  conflictFound,
  interrupted,
  limits,
} from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, lineOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const dpsOf = (number: number) => dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number });
const ID = `nfse_${idOf(7)}`;

/** The repeated request of invoice 7 got the number 3 of its lost note again, and met that note. */
const meetNote = async (
  { deps, stop }: RecoveryHarness,
  { accessKey }: AuthorizedNote,
  sameContent: boolean,
  ...more: readonly InvoiceEvent[]
): Promise<void> => {
  await stop(7, 3, at(20));
  const { type, data } = attempted(1, 25);
  const sent = { type, data: { ...data, number: 3, dpsId: dpsOf(3) } };
  const conflict = conflictFound(1, 26, sameContent);
  const found = { type: conflict.type, data: { ...conflict.data, accessKey, dpsId: dpsOf(3) } } as InvoiceEvent;
  const facts = { mode: 'live', invoiceId: idOf(7), description: 'Pedido 7', reference: 'pedido-7' } as const;
  const events = [accepted({ ...facts, acceptedAt: at(20) }), sent, found, ...more];
  await appendTo(deps.store, invoiceStream('live', DEMO_CNPJ, idOf(7)), events, at(20));
};

const compare = async ({ deps }: RecoveryHarness, acceptUnknown: boolean): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

it('a note that an indeterminate invoice met with equal content is named as the note of that invoice', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 3);
  await meetNote(harness, note, true, interrupted);
  const metBy = { id: ID, status: 'indeterminate' };
  const report = await compare(harness, false);
  expect(report).toMatchObject({ isDone: false, unknown: [{ number: 3, accessKey: note.accessKey, metBy }] });
  expect(report.unknown[0]).not.toHaveProperty('owner');
  const { detail, cure } = lineOf(report);
  expect(detail).toContain(
    `may belong to ${ID}, which met it under its number with equal content and is indeterminate`,
  );
  const command = `nfse invoice resolve ${ID} --as issued --access-key ${note.accessKey} --evidence TEXT`;
  expect(cure).toMatch(
    new RegExp(
      `^ask the client whether .* If so: ${command}, then nfse doctor --reconcile\\. If the note is of another sale`,
    ),
  );
  expect(cure).not.toContain('cancel this note');
});

it('a note that was another invoice’s, as a row that the log has lost says, is not for the invoice that met it', async () => {
  const lost = invoiceStream('live', DEMO_CNPJ, idOf(5));
  const harness = await recoveryHarness({
    byAccessKeys: async ([accessKey = '']) => [{ accessKey, stream: lost }],
  });
  await meetNote(harness, harness.register(7, 3), true, interrupted);
  const { detail, cure } = lineOf(await compare(harness, false));
  expect(detail).toContain(`was nfse_${idOf(5)}`);
  expect(cure).not.toContain('nfse invoice resolve');
});

it('that invoice may still be open when the pause came before its end: then it ends as indeterminate after the pause', async () => {
  const harness = await recoveryHarness();
  await meetNote(harness, harness.register(7, 3), true);
  const report = await compare(harness, false);
  expect(report.unknown).toMatchObject([{ metBy: { id: ID, status: 'processing' } }]);
  expect(report.unknown[0]).not.toHaveProperty('sentAgain');
  const { detail, cure } = lineOf(report);
  expect(detail).toContain('and has no outcome yet');
  expect(cure).toMatch(
    new RegExp(`If so: nfse doctor --reconcile --accept-unknown, after which .*then nfse invoice resolve ${ID}`),
  );
  expect(await compare(harness, true)).toMatchObject({ isDone: true, series: [{ stop: 'lifted' }, {}] });
});

it('another open invoice with its amount and customer keeps the pause all the same', async () => {
  const harness = await recoveryHarness();
  await meetNote(harness, harness.register(7, 3), true, interrupted);
  const facts = { mode: 'live', invoiceId: idOf(8), description: 'Pedido 7', reference: 'pedido-8' } as const;
  const stream = invoiceStream('live', DEMO_CNPJ, idOf(8));
  await appendTo(harness.deps.store, stream, [accepted({ ...facts, acceptedAt: at(30) })], at(30));
  const report = await compare(harness, true);
  expect(report).toMatchObject({
    isDone: false,
    unknown: [{ metBy: { id: ID }, acceptedAgain: [`nfse_${idOf(8)}`], sendableUntil: expect.any(String) }],
  });
  expect(lineOf(report).cure).toContain('--accept-unknown does not end the pause before that');
  harness.clock.moveTo(at(limits.queuedSeconds + 200));
  expect(await compare(harness, true)).toMatchObject({ isDone: true });
});

it('a note with other content than the indeterminate invoice that met it is named with that invoice, which does not get it', async () => {
  const harness = await recoveryHarness();
  await meetNote(harness, harness.register(7, 3), false, interrupted);
  const report = await compare(harness, false);
  expect(report).toMatchObject({ unknown: [{ metOther: ID }] });
  expect(report.unknown[0]).not.toHaveProperty('metBy');
  const { detail, cure } = lineOf(report);
  expect(detail).toContain(
    `may belong to ${ID}, which met it under its number with other content and is indeterminate`,
  );
  expect(cure).toMatch(
    new RegExp(
      `^ask the client whether .* on another day\\. If so: nfse invoice import [^.]*\\.ndjson with the line \\{[^}]*\\}, without a name, then leave ${ID} indeterminate`,
    ),
  );
  expect(cure).not.toContain('"id"');
});

it('a note with other content is not named with the invoice that met it once that invoice has an outcome', async () => {
  const harness = await recoveryHarness();
  const failed = { type: 'IndeterminateResolved', data: { as: 'failed', evidence: 'portal', at: at(90_000) } } as const;
  await meetNote(harness, harness.register(7, 3), false, interrupted, failed);
  expect((await compare(harness, false)).unknown[0]).not.toHaveProperty('metOther');
});

it('a note that was met by an invoice which has another note by now belongs to no invoice', async () => {
  const harness = await recoveryHarness();
  const { attempt: _attempt, evidence: _evidence, ...other } = authorizedData(1, 80);
  const settled = { type: 'IndeterminateResolved', data: { as: 'issued', ...other, evidence: 'portal' } } as const;
  await meetNote(harness, harness.register(7, 3), true, interrupted, settled);
  const report = await compare(harness, false);
  expect(report).toMatchObject({ isDone: false, unknown: [{ number: 3 }] });
  expect(report.unknown[0]).not.toHaveProperty('metBy');
});

it('once support has given the note to the invoice, the comparison is done and lifts the stop', async () => {
  const harness = await recoveryHarness();
  const note = harness.register(7, 3);
  const { attempt: _attempt, evidence: _evidence, ...rest } = authorizedData(1, 80);
  const data = { as: 'issued', ...rest, accessKey: note.accessKey, evidence: 'portal' } as const;
  await meetNote(harness, note, true, interrupted, { type: 'IndeterminateResolved', data });
  expect(await compare(harness, false)).toMatchObject({
    isDone: true,
    unknown: [],
    series: [{ found: 0, movedTo: 4, stop: 'lifted' }, {}],
  });
});
