import { expect, it } from 'vitest';
import type { RecoveryDeps } from '../../../src/app/recovery/ask-series.js';
import { compareRestoredLog, type RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { DAY_SECONDS } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { AuthorizedNote } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { accepted, at, attempted, interrupted, unknown } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, lineOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const ID = `nfse_${idOf(8)}`;
const UNDER_3 = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 3 });
const OWN = { amount: '1500.00', description: 'Pedido 8', customerDocument: '11111111000191' };

/** Invoice 8 was sent under the number 3, which the note has now. None of its look-ups has shown a note. */
const sendUnderNote = async (
  harness: RecoveryHarness,
  content: Partial<AuthorizedNote['content']>,
  { when = at(20), end = [interrupted] }: { when?: string; end?: readonly InvoiceEvent[] } = {},
): Promise<AuthorizedNote> => {
  const note = harness.register(7, 3);
  Object.assign(note, { content: { ...OWN, ...content } });
  const given = { invoiceId: idOf(8), number: 3, nextNumber: 4, at: when };
  await harness.numbers('live', { type: 'DpsNumberAllocated', data: given });
  const { type, data } = attempted(1, 25);
  const sent: InvoiceEvent = { type, data: { ...data, number: 3, dpsId: UNDER_3 } };
  const facts = { mode: 'live', invoiceId: idOf(8), description: OWN.description, reference: 'pedido-8' } as const;
  const events = [accepted({ ...facts, acceptedAt: when }), sent, unknown(1, 60), ...end];
  await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, idOf(8)), events, when);
  return note;
};

const compare = async (deps: RecoveryDeps): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, false);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

it('a note under the number of an indeterminate invoice is named with that invoice, although no look-up has shown it', async () => {
  const harness = await recoveryHarness();
  const { accessKey } = await sendUnderNote(harness, {});
  const report = await compare(harness.deps);
  const metBy = { id: ID, status: 'indeterminate' };
  expect(report).toMatchObject({ isDone: false, unknown: [{ number: 3, accessKey, metBy, unseen: true }] });
  const { detail, cure } = lineOf(report);
  expect(detail).toContain(
    `may belong to ${ID}, which has it under its number with equal content and is indeterminate`,
  );
  expect(cure).toContain(`If so: nfse invoice resolve ${ID} --as issued --access-key ${accessKey} --evidence TEXT`);
  expect(cure).toContain(`nfse invoice import FILE.ndjson --other-sale ${accessKey} with the line {`);
  // A key alone is refused beside that invoice.
  expect(cure).toMatch(/"xml_file":"NOTE\.xml"\}, where NOTE\.xml is the XML of the note from the national portal/);
});

it('it is named also where the number was given long before the pause, and the note is asked for by --from', async () => {
  const harness = await recoveryHarness();
  await sendUnderNote(harness, {}, { when: at(-30 * DAY_SECONDS) });
  expect(await compare(harness.deps)).toMatchObject({ isDone: true, unknown: [] });
  const named = [{ companyId: DEMO_CNPJ, mode: 'live', series: '1', number: 2 } as const];
  expect(await compare({ ...harness.deps, named })).toMatchObject({ unknown: [{ metBy: { id: ID } }] });
});

it('a note there with another description may be that of a repeat on another day, which the invoice does not get', async () => {
  const harness = await recoveryHarness();
  await sendUnderNote(harness, { description: 'Pedido 8, ontem' });
  const report = await compare(harness.deps);
  expect(report).toMatchObject({ unknown: [{ metOther: ID, unseen: true }] });
  expect(report.unknown[0]).not.toHaveProperty('metBy');
  const { detail, cure } = lineOf(report);
  expect(detail).toContain(`may belong to ${ID}, which has it under its number with other content`);
  expect(cure).toContain(`then leave ${ID} indeterminate`);
  expect(cure).not.toContain('--other-sale');
  expect(cure).toContain('"xml_file":"NOTE.xml"}');
});

it.each<[what: string, content: Partial<AuthorizedNote['content']>, end?: readonly InvoiceEvent[]]>([
  ['with another amount', { amount: '99.00' }],
  ['of another customer', { customerDocument: '' }],
  [
    'of an invoice that has failed',
    {},
    [{ type: 'IndeterminateResolved', data: { as: 'failed', evidence: 'portal', at: at(90_000) } }],
  ],
  ['of an open invoice, which is looked up after the pause', {}, []],
])('a note %s is named with no indeterminate invoice', async (_what, content, end = [interrupted]) => {
  const harness = await recoveryHarness();
  await sendUnderNote(harness, content, { end });
  const report = await compare(harness.deps);
  expect(report.unknown).toHaveLength(1);
  for (const name of ['metBy', 'metOther', 'unseen']) expect(report.unknown[0]).not.toHaveProperty(name);
});

it('a note that cannot be relied on is no invoice’s to take', async () => {
  const harness = await recoveryHarness();
  Object.assign(await sendUnderNote(harness, {}), { signatureFault: 'digest' });
  const report = await compare(harness.deps);
  expect(report).toMatchObject({ unknown: [{ metOther: ID, unseen: true }] });
});
