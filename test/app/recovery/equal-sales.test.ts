import { expect, it } from 'vitest';
import { reserve } from '../../../src/app/operator/import/reservations.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import { compareRestoredLog, type RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { AuthorizedNote } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { accepted, at, attempted, interrupted } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const streamOf = (n: number) => invoiceStream('live', DEMO_CNPJ, idOf(n));

/** Sale `n` of the same second, customer, amount and text as all others here: each gives the same DPS under a number. */
const sell = async ({ deps }: RecoveryHarness, n: number, ...events: readonly InvoiceEvent[]): Promise<void> => {
  const acceptedAt = at(0).replace('.000Z', `.${n}00Z`);
  const facts = { mode: 'live', invoiceId: idOf(n), description: 'Pedido 1', reference: `pedido-${n}` } as const;
  await appendTo(deps.store, streamOf(n), [accepted({ ...facts, acceptedAt }), ...events], at(10));
};

/** The attempt of sale `n` under the number of this note. */
const sentAs = async (
  { numbers }: RecoveryHarness,
  n: number,
  number: number,
  { dpsId, digest }: AuthorizedNote,
): Promise<InvoiceEvent> => {
  const allocated = { invoiceId: idOf(n), number, nextNumber: number + 1, at: at(5) };
  await numbers('live', { type: 'DpsNumberAllocated', data: allocated });
  const { type, data } = attempted(1, 10, digest);
  return { type, data: { ...data, number, dpsId } };
};

const compare = async ({ deps }: RecoveryHarness, acceptUnknown = false): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

const keysOf = ({ deps }: RecoveryHarness, ...sales: readonly number[]) =>
  Promise.all(
    sales.map(async (n) => {
      const { state } = await loadInvoice(streamOf(n), deps.store);
      return state.kind === 'invoice' && state.outcome.status === 'issued' ? state.outcome.accessKey : undefined;
    }),
  );

it.each([
  ['in the order of their acceptance', [1, 2]],
  ['the other way round', [2, 1]],
] as const)('two equal sales that were sent %s keep each its own note', async (_order, [first, second]) => {
  const harness = await recoveryHarness();
  const notes = [harness.register(1, 1), harness.register(1, 2)] as const;
  const attempts = [await sentAs(harness, first, 1, notes[0]), await sentAs(harness, second, 2, notes[1])];
  for (const n of [1, 2]) await sell(harness, n, ...(n === first ? attempts.slice(0, 1) : attempts.slice(1)));
  expect(await compare(harness)).toMatchObject({ isDone: true, unknown: [], series: [{ adopted: 0 }, {}] });
  // Each invoice finds its note by its own look-up.
  expect(await keysOf(harness, 1, 2)).toEqual([undefined, undefined]);
});

it('a note of an indeterminate invoice is not given to an equal sale that waits', async () => {
  const harness = await recoveryHarness();
  const sent = await sentAs(harness, 1, 1, harness.register(1, 1));
  await sell(harness, 1, sent, interrupted);
  await sell(harness, 2);
  expect(await compare(harness)).toMatchObject({ isDone: true, unknown: [], series: [{ adopted: 0 }, {}] });
  expect(await harness.status(streamOf(2))).toBe('open');
});

it('two indeterminate equal sales keep each its own note', async () => {
  const harness = await recoveryHarness();
  for (const n of [1, 2]) await sell(harness, n, await sentAs(harness, n, n, harness.register(1, n)), interrupted);
  expect(await compare(harness)).toMatchObject({ isDone: true, unknown: [] });
});

it('two equal sales whose sends are lost take each one note, and a third note is of none', async () => {
  const harness = await recoveryHarness();
  const keys = [1, 2].map((number) => harness.register(1, number).accessKey);
  await sell(harness, 1);
  await sell(harness, 2);
  expect(await compare(harness)).toMatchObject({ isDone: true, unknown: [], series: [{ adopted: 2 }, {}] });
  expect(await keysOf(harness, 1, 2)).toEqual(keys);
  const third = harness.register(1, 4).accessKey;
  expect(await compare(harness)).toMatchObject({ isDone: false, unknown: [{ accessKey: third, owner: {} }] });
});

it('an equal sale that waits takes the note that the other one, with a note in the log, cannot take', async () => {
  const harness = await recoveryHarness();
  const own = harness.register(1, 1);
  const lost = harness.register(1, 2);
  const sent = await sentAs(harness, 1, 1, own);
  const { accessKey, nfseNumber, authorizedAt } = own;
  const outcome = { attempt: 1, accessKey, nfseNumber, authorizedAt, evidence: 'response', at: at(11) } as const;
  await sell(harness, 1, sent, { type: 'Authorized', data: outcome });
  await sell(harness, 2);
  expect(await compare(harness)).toMatchObject({ isDone: true, unknown: [] });
  expect(await keysOf(harness, 1, 2)).toEqual([accessKey, lost.accessKey]);
});

it('a lost note holds the pause while an equal sale may have sent another one', async () => {
  const harness = await recoveryHarness();
  const { accessKey } = harness.register(1, 4);
  const { type, data } = attempted(1, 10);
  await sell(harness, 1, { type, data });
  const expected = { accessKey, sentAgain: [`nfse_${idOf(1)}`], owner: undefined };
  for (const acceptUnknown of [false, true]) {
    const report = await compare(harness, acceptUnknown);
    expect(report.isDone).toBe(false);
    const [{ owner, sentAgain, accessKey: found } = {}] = report.unknown;
    expect({ accessKey: found, sentAgain, owner }).toEqual(expected);
  }
  expect(await harness.status(streamOf(1))).toBe('open');
});

it('a note that another operator is giving to another invoice is given to no sale that waits', async () => {
  const harness = await recoveryHarness();
  const { accessKey } = harness.register(1, 1);
  await sell(harness, 1);
  const taker = { mode: 'live', companyId: DEMO_CNPJ, invoiceId: idOf(9) } as const;
  expect(await reserve({ data: taker, liveKey: accessKey }, at(10), harness.deps)).toBeUndefined();
  expect(await compare(harness)).toMatchObject({
    isDone: false,
    unknown: [{ accessKey }],
    series: [{ adopted: 0 }, {}],
  });
  expect(await harness.status(streamOf(1))).toBe('open');
});

it('a sale that waits reserves the note that it gets', async () => {
  const harness = await recoveryHarness();
  const { accessKey } = harness.register(1, 1);
  await sell(harness, 1);
  expect(await compare(harness)).toMatchObject({ isDone: true, series: [{ adopted: 1 }, {}] });
  const taker = { mode: 'live', companyId: DEMO_CNPJ, invoiceId: idOf(9) } as const;
  expect(await reserve({ data: taker, liveKey: accessKey }, at(10), harness.deps)).toMatchObject({ kind: 'refused' });
});
