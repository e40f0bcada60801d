import { expect } from 'vitest';
import { invoiceStream, parseInvoiceId } from '../../src/domain/common/ids.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { waitFor } from '../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../support/harness/crash.js';
import type { ExternalSimulator } from '../support/harness/simulator-process.js';
import { expectEnd, expectSoundLog, wholeLog } from './aftermath.js';
import {
  type Crash,
  cancelAgain,
  expectDeath,
  issue,
  issueAgain,
  operate,
  type Running,
  recover,
  type Served,
  serve,
  untilIssued,
  untilSettled,
} from './crash.js';
import type { KillPoint } from './kill-point.js';
import type { Scenario } from './scenarios.js';
import type { Survivor } from './survivor.js';

/** One number per crash, which gives its series and amounts, so that its notes can be found in the shared ledger. */
export type Turn = { point: KillPoint; scenario: Scenario; serial: number };

const CONFLICT_WITHIN_MS = 120_000;
const GONE_WITHIN_MS = 120_000;
const MOVED_TO = 50;

/** Kills the process at the point, restarts it on the same data, repeats the request, and compares the ledger with the client's view. */
export const runCrash = async (
  { point, scenario, serial }: Turn,
  simulator: ExternalSimulator,
  survivor: Survivor,
): Promise<void> => {
  const ends: (() => Promise<void>)[] = [];
  const harness = await openCrashHarness(simulator, String(serial));
  const crash: Crash = { point, scenario, harness, simulator, amountInCents: 10_000 + 10 * serial };
  const start: Start['start'] = async (fate, of = crash) => {
    const running = await serve(of, fate);
    ends.push(running.program.kill);
    return running;
  };
  const again: Start['again'] = async () => {
    const { client, end } = await recover(survivor, crash);
    ends.push(end);
    return { client };
  };
  try {
    for (const fault of scenario.faults ?? []) await simulator.order(fault, crash.amountInCents);
    await PLAYS[scenario.kind](crash, { start, again });
    await expectSoundLog(harness);
  } finally {
    for (const end of ends) await end();
    await harness.close();
  }
};

type Start = {
  /** In a process of its own: the one that dies, or one that a later step of the crash kills. */
  start(fate: 'doomed' | 'lives', of?: Crash): Promise<Running>;
  /** After the death, beside the services of other crashes. */
  again(): Promise<Served>;
};

const playIssue = async (crash: Crash, { start, again }: Start): Promise<void> => {
  const doomed = await start('doomed');
  const promised = await issue(crash, doomed);
  await expectDeath(crash, doomed.program);
  const restarted = await again();
  const id = await issueAgain(crash, restarted);
  expect(id).toBe(promised ?? id);
  await expectEnd(crash, await untilSettled(restarted, id));
};

const playCancel = async (crash: Crash, { start, again }: Start): Promise<void> => {
  const doomed = await start('doomed');
  const id = await untilIssued(doomed, await issue(crash, doomed));
  // The process may die before it answers; what became of the request is asked for after the restart.
  await doomed.client.cancel(id).catch(() => undefined);
  await expectDeath(crash, doomed.program);
  await expectEnd(crash, await cancelAgain(await again(), id));
};

const playRetention = async (crash: Crash, { start, again }: Start): Promise<void> => {
  const doomed = await start('doomed');
  const id = await untilIssued(doomed, await issue(crash, doomed));
  await expectDeath(crash, doomed.program);
  const restarted = await again();
  await waitFor('the end of the test invoice', GONE_WITHIN_MS, async () =>
    (await restarted.client.find(id)) === undefined ? true : undefined,
  );
  await waitFor('the end of its events', GONE_WITHIN_MS, async () => {
    const types = (await wholeLog(crash.harness, 'nfse')).map(({ type }) => type);
    // Dead between the append and the cut: what is left is sealed, and is erased with the day's key.
    const left = crash.point.startsWith('after') ? types.slice(-1) : types;
    return left.length === 1 && left[0] === 'TestInvoiceDeleted' ? true : undefined;
  });
  expect(await restarted.client.issue({ ...NEXT_BODY, reference: `pedido-${crash.amountInCents}` })).toMatchObject({
    status: 409,
    body: { error: { code: 'nfse.reference_in_use' } },
  });
  expect(await crash.simulator.notes(crash.amountInCents)).toHaveLength(1);
};

const NEXT_BODY = { amount_in_cents: 999_999, description: 'Outro serviço', customer: { document: '11222333000181' } };

/** Another installation of the same company used our first number; an operator moves our numbers when the series has stopped. */
const playConflict = async (crash: Crash, { start, again }: Start): Promise<void> => {
  await leaveForeignNote(crash, start);
  const doomed = await start('doomed');
  const promised = await issue(crash, doomed);
  await expectDeath(crash, doomed.program);
  const restarted = await start('lives');
  const id = await issueAgain(crash, restarted);
  expect(id).toBe(promised ?? id);
  await untilConflictIsKnown(crash.harness, id);
  await restarted.program.kill();
  await crash.harness.moveNumber(MOVED_TO);
  await expectEnd(crash, await untilSettled(await again(), id));
};

const leaveForeignNote = async (crash: Crash, start: Start['start']): Promise<void> => {
  const elsewhere = await openCrashHarness(crash.simulator, crash.harness.series);
  const foreign = { ...crash, harness: elsewhere, amountInCents: crash.amountInCents + 1 };
  try {
    const other = await start('lives', foreign);
    await untilIssued(other, await issue(foreign, other));
    await other.program.kill();
  } finally {
    await elsewhere.close();
  }
};

const untilConflictIsKnown = async ({ engines }: CrashHarness, id: string): Promise<void> => {
  const stream = invoiceStream('test', demoCompany().cnpj, parseInvoiceId(id) ?? '');
  await waitFor('the number conflict', CONFLICT_WITHIN_MS, async () =>
    (await engines.log.read(stream)).find(({ type }) => type === 'NumberConflictFound'),
  );
};

/** The operator's process dies beside a living service; the same command again is done, and the numbers go on from there. */
const playOperate = async (crash: Crash, { again }: Start): Promise<void> => {
  const service = await again();
  const id = await untilIssued(service, await issue(crash, service));
  await expectDeath(crash, await operate(crash, MOVED_TO, 'doomed'));
  expect(await (await operate(crash, MOVED_TO, 'lives')).ended).toEqual({ code: 0, signal: null });
  const next = { ...crash, amountInCents: crash.amountInCents + 1 };
  const nextId = await untilIssued(service, await issue(next, service));
  await expectEnd(crash, await untilSettled(service, id));
  await expectEnd(next, await untilSettled(service, nextId));
  const own = await wholeLog(crash.harness, `dpsTest-${demoCompany().cnpj}`);
  const allocated = own.filter(({ type }) => type === 'DpsNumberAllocated');
  expect(allocated.map(({ data }) => data.number)).toEqual([1, MOVED_TO]);
};

/** One process records the difference once, and the invoice stays unchanged. */
const playReconcile = async (crash: Crash, { start, again }: Start): Promise<void> => {
  const doomed = await start('doomed');
  const { access_key } = await untilSettled(doomed, await untilIssued(doomed, await issue(crash, doomed)));
  const event = { environment: 'test', access_key, type: '101101' };
  const linked = await fetch(`${crash.simulator.controlUrl}/_control/events`, {
    method: 'POST',
    body: JSON.stringify(event),
  });
  expect(linked.status).toBe(201);
  await expectDeath(crash, doomed.program);
  await again();
  const recorded = async () =>
    (await wholeLog(crash.harness, 'nfse')).filter(
      ({ type }) => type === 'NoteCanceledElsewhere' || type === 'ReconciliationDifferenceFound',
    );
  await waitFor('the event', GONE_WITHIN_MS, async () => ((await recorded()).length > 0 ? true : undefined));
  // Two more rounds find the event again.
  const looks = async (): Promise<number> => {
    const calls = (await (await fetch(`${crash.simulator.controlUrl}/_control/calls`)).json()) as { path: string }[];
    return calls.filter(({ path }) => path.endsWith(`${access_key}/eventos/101101/1`)).length;
  };
  const before = await looks();
  await waitFor('two more looks', GONE_WITHIN_MS, async () => ((await looks()) >= before + 2 ? true : undefined));
  expect((await recorded()).map(({ type }) => type)).toEqual(['NoteCanceledElsewhere']);
  expect(await crash.simulator.notes(crash.amountInCents)).toHaveLength(1);
};

const PLAYS: Record<Scenario['kind'], (crash: Crash, start: Start) => Promise<void>> = {
  issue: playIssue,
  cancel: playCancel,
  retention: playRetention,
  conflict: playConflict,
  operate: playOperate,
  reconcile: playReconcile,
};
