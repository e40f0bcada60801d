import { expect, it } from 'vitest';
import type { RecoveryDeps } from '../../../src/app/recovery/ask-series.js';
import { compareRestoredLog, type RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { expandMarkers } from '../../../src/domain/common/markers.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  conflictFound,
  imported,
  limits,
  notSent,
  provenAbsent,
} from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, recoveryHarness } from '../../support/harness/recovery.js';

const compare = async (deps: RecoveryDeps, acceptUnknown: boolean): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

/** The request of invoice `n`, which the log had lost, accepted a second time 20 s later. */
const acceptAgain = async (
  { store }: Pick<RecoveryDeps, 'store'>,
  n: number,
  mode: Mode = 'live',
  ...more: readonly InvoiceEvent[]
): Promise<void> => {
  const facts = { mode, invoiceId: idOf(n), description: `Pedido ${n}`, reference: `pedido-${n}` };
  const events = [accepted({ ...facts, acceptedAt: at(20) }), ...more];
  await appendTo(store, invoiceStream(mode, DEMO_CNPJ, idOf(n)), events, at(20));
};

it('names the open invoice that a repeated request made of a note without an invoice, and keeps the pause for it', async () => {
  const { deps, register, lastNumber } = await recoveryHarness();
  const { accessKey } = register(7, 3);
  await acceptAgain(deps, 7);
  await appendTo(
    deps.store,
    invoiceStream('live', DEMO_CNPJ, idOf(8)),
    [accepted({ mode: 'live', invoiceId: idOf(8), amountInCents: 150_001, acceptedAt: at(20) })],
    at(20),
  );
  const unknown = [{ number: 3, accessKey, acceptedAgain: [`nfse_${idOf(7)}`] }];
  for (const acceptUnknown of [false, true])
    expect(await compare(deps, acceptUnknown)).toMatchObject({ isDone: false, unknown });
  expect(await lastNumber()).toBeUndefined();
});

it('names that invoice where the note has its amount without decimals', async () => {
  const { deps, register } = await recoveryHarness();
  const { content } = register(7, 3);
  content.amount = '1500';
  await acceptAgain(deps, 7);
  expect(await compare(deps, true)).toMatchObject({
    isDone: false,
    unknown: [{ acceptedAgain: [`nfse_${idOf(7)}`] }],
  });
});

it('names an invoice whose date marker was expanded on another day', async () => {
  const { deps, register } = await recoveryHarness();
  const again = at(20 * 3_600);
  register(7, 3).content.description = expandMarkers('Pedido 7 de {{data}}', at(0));
  const description = expandMarkers('Pedido 7 de {{data}}', again);
  const facts = { mode: 'live', invoiceId: idOf(7), description, acceptedAt: again } as const;
  await appendTo(deps.store, invoiceStream('live', DEMO_CNPJ, idOf(7)), [accepted(facts)], again);
  expect(await compare(deps, true)).toMatchObject({
    isDone: false,
    unknown: [{ acceptedAgain: [`nfse_${idOf(7)}`] }],
  });
});

it('sees a request that was accepted during the comparison', async () => {
  const { deps, clock, register } = await recoveryHarness();
  register(7, 3);
  let isAccepted = false;
  const waitUntil = async (until: string): Promise<void> => {
    if (!isAccepted) await acceptAgain(deps, 7);
    isAccepted = true;
    clock.moveTo(until);
  };
  expect(await compare({ ...deps, waitUntil }, true)).toMatchObject({
    isDone: false,
    unknown: [{ acceptedAgain: [`nfse_${idOf(7)}`] }],
  });
});

it('ends the pause once the note is the outcome of that invoice, or an invoice that was imported for another sale', async () => {
  const first = await recoveryHarness();
  const note = first.register(7, 3);
  const outcome = authorized(1, 60);
  if (outcome.type !== 'Authorized') throw new Error('not a note');
  const data = { ...outcome.data, accessKey: note.accessKey, attemptLost: true as const };
  await acceptAgain(first.deps, 7, 'live', { type: 'Authorized', data });
  expect(await compare(first.deps, false)).toMatchObject({ isDone: true, unknown: [] });

  const second = await recoveryHarness();
  const { accessKey } = second.register(7, 3);
  await acceptAgain(second.deps, 7);
  const stream = invoiceStream('live', DEMO_CNPJ, idOf(9));
  await appendTo(
    second.deps.store,
    stream,
    [imported({ mode: 'live', invoiceId: idOf(9), amountInCents: 150_000, accessKey })],
    at(30),
  );
  expect(await compare(second.deps, false)).toMatchObject({ isDone: true, unknown: [] });
});

it.each<[which: string, more: readonly InvoiceEvent[], expected: object]>([
  [
    'that the pause kept from being sent',
    [attempted(1, 30), notSent(1, 31)],
    { acceptedAgain: [`nfse_${idOf(7)}`], sendableUntil: at(3_690) },
  ],
  [
    'whose number another sale has',
    [attempted(1, 30), conflictFound(1, 60)],
    { acceptedAgain: [`nfse_${idOf(7)}`], sendableUntil: at(3_690) },
  ],
  ['that was sent without an answer', [attempted(1, 30)], { sentAgain: [`nfse_${idOf(7)}`], sendableUntil: at(3_690) }],
  [
    'that was proven absent',
    [attempted(1, 30), provenAbsent(1, 120)],
    { sentAgain: [`nfse_${idOf(7)}`], sendableUntil: at(3_690) },
  ],
])('keeps the pause for an invoice %s until it is not sent any more', async (_which, more, expected) => {
  const { deps, clock, register } = await recoveryHarness();
  register(7, 3);
  await acceptAgain(deps, 7, 'live', ...more);
  const held = await compare(deps, true);
  expect(held).toMatchObject({ isDone: false, unknown: [{ number: 3 }] });
  const { acceptedAgain, sentAgain, metAgain, sendableUntil } = held.unknown[0] ?? {};
  expect({ acceptedAgain, sentAgain, metAgain, sendableUntil }).toEqual({
    acceptedAgain: undefined,
    sentAgain: undefined,
    metAgain: undefined,
    ...expected,
  });
  clock.moveTo(at(3_700));
  const { sendableUntil: _over, ...repeats } = expected as { sendableUntil: string };
  expect(await compare(deps, false)).toMatchObject({ isDone: false, unknown: [repeats] });
  expect(await compare(deps, true)).toMatchObject({ isDone: true, unknown: [repeats] });
});

it('says which repeat met the note under its number, because an import takes the note as another sale only after its outcome', async () => {
  const { deps, register } = await recoveryHarness();
  const { accessKey } = register(7, 3);
  const { type, data } = conflictFound(1, 60);
  await acceptAgain(deps, 7, 'live', attempted(1, 30), { type, data: { ...data, accessKey } } as InvoiceEvent);
  const ids = [`nfse_${idOf(7)}`];
  expect(await compare(deps, true)).toMatchObject({ unknown: [{ acceptedAgain: ids, metAgain: ids }] });
});

it('names the repeat that waits no longer, and --accept-unknown ends the pause then', async () => {
  const { deps, clock, register } = await recoveryHarness();
  register(7, 3);
  await acceptAgain(deps, 7);
  clock.moveTo(at(20 + limits.queuedSeconds + 60));
  const unknown = [{ number: 3, acceptedAgain: [`nfse_${idOf(7)}`] }];
  expect(await compare(deps, false)).toMatchObject({ isDone: false, unknown });
  expect(await compare(deps, true)).toMatchObject({ isDone: true, unknown });
});

it.each([
  ['this command', 16 * 60, 30],
  ['the database', 30, 16 * 60],
  ['both, by less than a minute', 20 + limits.queuedSeconds + 59, 20 + limits.queuedSeconds + 59],
])('keeps the pause for a repeat where the clock of %s is ahead', async (_whose, own, ofDatabase) => {
  const { deps, clock, register } = await recoveryHarness({ databaseNow: async () => at(ofDatabase) });
  register(7, 3);
  await acceptAgain(deps, 7);
  const report = compare({ ...deps, waitUntil: async () => clock.moveTo(at(own)) }, true);
  expect(await report).toMatchObject({ isDone: false, unknown: [{ sendableUntil: at(80 + limits.queuedSeconds) }] });
});

it('does not wait for an invoice that found its own content under its number, which is not sent again', async () => {
  const { deps, register } = await recoveryHarness();
  register(7, 3);
  await acceptAgain(deps, 7, 'live', attempted(1, 30), conflictFound(1, 60, true));
  expect(await compare(deps, true)).toMatchObject({ isDone: true, unknown: [{ sentAgain: [`nfse_${idOf(7)}`] }] });
});

it('names no invoice whose own note is there', async () => {
  const { deps, register } = await recoveryHarness();
  register(7, 3);
  const { dpsId, digest } = register(8, 4);
  Object.assign(register(9, 5), { content: { amount: '1.00', description: 'outra', customerDocument: '' } });
  const sent = attempted(1, 30, digest);
  await acceptAgain(deps, 7, 'live', { ...sent, data: { ...sent.data, number: 4, dpsId } });
  const report = await compare(deps, false);
  expect(report.unknown.map(({ number, acceptedAgain, sentAgain }) => ({ number, acceptedAgain, sentAgain }))).toEqual(
    [3, 5].map((number) => ({ number, acceptedAgain: undefined, sentAgain: undefined })),
  );
});

it('holds no pause for an invoice in test mode', async () => {
  const { deps, register } = await recoveryHarness();
  register(7, 3, 'test');
  await acceptAgain(deps, 7, 'test');
  expect(await compare(deps, true)).toMatchObject({ isDone: true, unknown: [{ number: 3 }] });
});
