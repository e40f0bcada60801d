import { describe, expect, it } from 'vitest';
import type { StartingPoint } from '../../../src/app/recovery/ask-series.js';
import { compareRestoredLog, type RecoveryReport, recordRecovery } from '../../../src/app/recovery/recover-log.js';
import { logRecoveryChecks } from '../../../src/cli/commands/recovery-checks.js';
import type { Check } from '../../../src/cli/session.js';
import { type InvoiceId, invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { AuthorizedNote, RegisteredEvent } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { accepted, at, imported } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { eventFor } from '../../support/harness/fake-authorizer.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

/** The note of invoice `n`, 1500.00, with a key of the company. */
const lost = ({ register }: RecoveryHarness, n: number, number: number, mode: Mode = 'live'): AuthorizedNote =>
  Object.assign(register(n, number, mode), { accessKey: `330455722${DEMO_CNPJ}${String(number).padStart(27, '0')}` });

const importNote = async (
  { deps, clock }: RecoveryHarness,
  { accessKey }: AuthorizedNote,
  amountInCents: number,
  mode: Mode = 'live',
): Promise<void> => {
  const invoiceId: InvoiceId = idOf(8);
  const event = imported({ mode, companyId: DEMO_CNPJ, invoiceId, accessKey, amountInCents });
  await appendTo(deps.store, invoiceStream(mode, DEMO_CNPJ, invoiceId), [event], clock.now());
};

const compare = async (
  { deps }: RecoveryHarness,
  acceptUnknown = false,
  named: readonly StartingPoint[] = [],
): Promise<RecoveryReport> => {
  const report = await compareRestoredLog({ ...deps, named }, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

const linesOf = (report: RecoveryReport): readonly Check[] =>
  logRecoveryChecks({ kind: 'compared', resumed: false, ...report }).filter(({ name }) => /note/.test(name));

const FROM_1: StartingPoint = { companyId: DEMO_CNPJ, mode: 'live', series: '1', number: 1 };

describe('a live note that an import holds with another amount', () => {
  it.each([
    ['found after the end of the log', []],
    ['found from a starting point of the operator on', [FROM_1]],
  ])('keeps issuing paused until an operator accepts it: %s', async (_where, named) => {
    const harness = await recoveryHarness();
    const note = lost(harness, 7, 3);
    await importNote(harness, note, 200);
    const importedAs = { id: `nfse_${idOf(8)}`, amount: '2.00' };
    const report = await compare(harness, false, named);
    expect(report).toMatchObject({ isDone: false, unknown: [{ number: 3, amount: '1500.00', importedAs }] });
    expect(linesOf(report)).toMatchObject([
      {
        name: `imported note ${DEMO_CNPJ} live`,
        ok: false,
        detail: expect.stringContaining(`belongs to ${importedAs.id}, whose import says 2.00`),
        cure: expect.stringMatching(`not to cancel it here.*national portal.*--accept-unknown$`),
      },
    ]);
    const accepted = await compare(harness, true, named);
    expect(accepted.isDone).toBe(true);
    expect(await recordRecovery(accepted, harness.deps)).toBeUndefined();
    const again = await compare(harness, false, [FROM_1]);
    expect(again.isDone).toBe(true);
    expect(linesOf(again)).toMatchObject([{ ok: true, detail: expect.stringContaining('accepted by support:maria') }]);
  });

  it('is reported where the import came after the note was accepted', async () => {
    const harness = await recoveryHarness();
    const note = lost(harness, 7, 3);
    await recordRecovery(await compare(harness, true), harness.deps);
    harness.clock.pass(1);
    await importNote(harness, note, 200);
    expect(await compare(harness, false, [FROM_1])).toMatchObject({ isDone: false, unknown: [{ importedAs: {} }] });
  });

  it.each<[string, Mode, number]>([
    ['the import has the amount of the note', 'live', 150_000],
    ['the note is of test mode, so no fiscal document', 'test', 200],
  ])('is nothing to report where %s', async (_why, mode, amountInCents) => {
    const harness = await recoveryHarness();
    await importNote(harness, lost(harness, 7, 3, mode), amountInCents, mode);
    expect(await compare(harness)).toMatchObject({ isDone: true, unknown: [] });
  });
});

const CANCELED_AT = '2026-11-21T13:00:00.000Z';

it.each<[string, Partial<RegisteredEvent> | undefined, string, string | undefined]>([
  ['no event cancels', undefined, 'issued', undefined],
  ['an event of the emitter cancels', {}, 'canceled', CANCELED_AT],
  ['another note replaces', { eventType: '105102' }, 'issued', undefined],
  ['an event cancels that nobody vouches for', { signatureFault: 'missing' }, 'issued', undefined],
])(
  'the cure of a note that %s has the whole line to import, to which only the reference is added',
  async (_what, event, state, canceledAt) => {
    const harness = await recoveryHarness();
    const { accessKey, authorizedAt } = lost(harness, 7, 3);
    if (event !== undefined) {
      const registered = eventFor(Buffer.from('<infPedReg Id="PRE1"/>'));
      harness.ledgers.live.events.push({ ...registered, registeredAt: CANCELED_AT, ...event });
    }
    const [line] = linesOf(await compare(harness));
    const printed = {
      cnpj: DEMO_CNPJ,
      mode: 'live',
      origin: 'legacy',
      state,
      amount_in_cents: 150_000,
      access_key: accessKey,
      issued_at: authorizedAt,
      created_at: authorizedAt,
      canceled_at: canceledAt,
    };
    expect(line?.detail.includes(`canceled at ${CANCELED_AT}`)).toBe(canceledAt !== undefined);
    expect(line?.cure).toContain(
      `take it over: nfse invoice import FILE.ndjson with the line ${JSON.stringify(printed)}, and the reference, id or Idempotency-Key`,
    );
    expect(line?.cure).toMatch(/--accept-unknown, which accepts every note that it finds without an invoice$/);
  },
);

it('a canceled note is given as issued to the invoice that a repeated request made, which finds the event itself', async () => {
  const harness = await recoveryHarness();
  lost(harness, 7, 3);
  harness.ledgers.live.events.push(eventFor(Buffer.from('<infPedReg Id="PRE1"/>')));
  const again = accepted({ mode: 'live', invoiceId: idOf(7), description: 'Pedido 7', acceptedAt: at(20) });
  await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, idOf(7)), [again], at(20));
  const [line] = linesOf(await compare(harness));
  expect(line?.detail).toContain('canceled at');
  expect(line?.cure).toContain(`"state":"issued","id":"nfse_${idOf(7)}"`);
  expect(line?.cure).not.toContain('canceled_at');
});
