import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Invoice } from '../../src/client/client.js';
import { MAX_SENDS } from '../../src/domain/invoice/limits.js';
import type { RecordedEvent } from '../../src/ports/event-log.js';
import { type Role, roles } from '../../src/runtime/config/config.js';
import { aligned } from '../e2e/fault-table.js';
import { waitFor } from '../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../support/harness/crash.js';
import { isCanceled } from '../support/harness/ledger.js';
import { runProgram } from '../support/harness/processes.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/harness/simulator-process.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { expectRowsOfLog, expectSoundLog, wholeLog } from './aftermath.js';
import { checkDocuments } from './campaign-documents.js';
import { type Load, type PlannedInvoice, planInvoices, startLoad } from './campaign-load.js';
import { containersOn } from './containers.js';
import { type Fleet, MISHAPS, type Mishap, startFleet } from './fleet.js';
import { type Seeded, seeded } from './seeded.js';

/** `rounds`: how often each mishap befalls each role. */
export type CampaignSize = { invoices: number; rounds: Readonly<Record<Mishap, number>> };

type CampaignPlan = {
  size: CampaignSize;
  seed: number;
  /** Of the company's DPS numbers: one authorizer may serve several campaigns. */
  series: string;
  /** The event log beside PostgreSQL, if any. */
  openLog?(): Promise<{ url: string; close(): Promise<void> }>;
};

type Step = { mishap: Mishap; role: Role };

const PATIENCE_MS = 1_500_000;
const PROGRESS_WITHIN_MS = 300_000;
/** How many other mishaps a frozen process misses. With the pauses between them it sometimes loses its lease. */
const FROZEN_FOR = 3;

/** Two processes of each role as compose.yaml starts them, under load, with an authorizer that fails at times. */
export const campaign = (title: string, { size, seed, series, openLog }: CampaignPlan): void => {
  let simulator: ExternalSimulator;
  let nats: NatsServer;
  let log: { url: string; close(): Promise<void> } | undefined;
  let harness: CrashHarness;
  let fleet: Fleet;
  const random = seeded(seed);
  beforeAll(async () => {
    process.stdout.write(`${title}: seed ${seed}\n`);
    [simulator, nats, log] = await Promise.all([startExternalSimulator(), startNats(), openLog?.()]);
    const ofLog = log === undefined ? {} : { EVENTSTORE_URL: log.url };
    harness = await openCrashHarness(simulator, series, ofLog);
    const urls = { natsUrl: nats.url, ...(log === undefined ? {} : { eventStoreUrl: log.url }) };
    fleet = await startFleet(await containersOn(harness, urls), random);
  }, PATIENCE_MS);
  afterAll(async () => {
    await fleet?.close();
    await Promise.all([harness?.close(), nats?.close(), simulator?.close()]);
    await log?.close();
  });

  it(
    `${title}: nothing that was accepted is lost, and nothing is issued twice`,
    async () => {
      const began = performance.now();
      const all = planInvoices(size.invoices, random);
      const load = startLoad(all, harness.key, fleet.origins, simulator);
      await Promise.all([load.done, applyMishaps(stepsOf(size, random), all, load, fleet)]);
      fleet.thaw();
      const ends = await expectEnds(all, load, simulator);
      await expectCancellations(ends, load, simulator);
      expect(fleet.wrongEnds).toEqual([]);
      await expectSoundLog(harness);
      await expectRowsOfLog(harness);
      const audited = await expectAudited(harness);
      const most = mostCalls(await wholeLog(harness, 'nfse'), await readCalls(simulator.controlUrl));
      expect(most.sends).toBeLessThanOrEqual(MAX_SENDS);
      const documents = await checkDocuments(harness);
      expect(documents.faults).toEqual([]);
      const seconds = Math.round((performance.now() - began) / 1000);
      const issued = ends.filter(({ seen }) => seen.status === 'issued').length;
      const counts = `${ends.length} invoices, ${issued} issued with one note each; most calls of one: ${callsLine(most)}`;
      process.stdout.write(
        `${title}: seed ${seed}, ${seconds} s\n${endsTable(ends)}\n${counts}\n${mishapsOf(fleet)}\n${documents.line}\n${audited}\n`,
      );
    },
    PATIENCE_MS,
  );
};

/** The report of a separate audit process: chains, schemas, invariants, signed documents, and each row of the read model. */
const expectAudited = async ({ env }: CrashHarness): Promise<string> => {
  const program = runProgram(['src/main.ts', 'audit', 'verify', '--documents', '--json'], env);
  expect(await program.ended, program.complaint()).toEqual({ code: 0, signal: null });
  const { ok, streams, events, findings, documents } = JSON.parse(program.output().stdout);
  expect({ ok, findings }).toEqual({ ok: true, findings: [] });
  return `audit verify: ${streams} streams, ${events} events, ${documents.checked} documents, nothing found`;
};

const stepsOf = ({ rounds }: CampaignSize, random: Seeded): readonly Step[] =>
  random.shuffled(
    MISHAPS.flatMap((mishap) =>
      Array.from({ length: rounds[mishap] }, () => roles.map((role) => ({ mishap, role }))).flat(),
    ),
  );

/** Spread over the load: each waits for its share of the invoices to be accepted. */
const applyMishaps = async (
  steps: readonly Step[],
  all: readonly PlannedInvoice[],
  load: Load,
  fleet: Fleet,
): Promise<void> => {
  let frozenFor = 0;
  for (const [index, { mishap, role }] of steps.entries()) {
    const share = Math.floor((all.length * (index + 1)) / (steps.length + 1));
    await waitFor('progress before the next mishap', PROGRESS_WITHIN_MS, async () =>
      load.accepted.size >= share ? true : undefined,
    );
    if (mishap === 'freeze' || ++frozenFor > FROZEN_FOR) {
      fleet.thaw();
      frozenFor = 0;
    }
    await fleet.apply(mishap, role);
  }
};

/**
 * One id for each key, an end for each invoice, and the ledger agrees: one note for an issued one, none for a failed one.
 * Only what the authorizer refused may fail; where the refusal died with its process, the same bytes were sent again.
 */
const expectEnds = async (
  all: readonly PlannedInvoice[],
  load: Load,
  simulator: ExternalSimulator,
): Promise<readonly End[]> => {
  const ends = await Promise.all(
    all.map(async (planned) => ({ planned, seen: await load.endOf(load.accepted.get(planned.key) ?? '') })),
  );
  expect(new Set(load.accepted.values()).size).toBe(all.length);
  const notes = await simulator.notes();
  const issued = ends.filter(({ seen }) => seen.status === 'issued');
  const failed = ends.filter(({ seen }) => seen.status === 'failed');
  expect(issued.length + failed.length).toBe(all.length);
  expect(failed.filter(({ planned }) => planned.fault !== 'reject')).toEqual([]);
  expect(notes.map(({ amount_in_cents, access_key }) => `${amount_in_cents} ${access_key}`).sort()).toEqual(
    issued.map(({ planned, seen }) => `${planned.amountInCents} ${seen.access_key}`).sort(),
  );
  for (const planned of all) expect(await load.issue(planned)).toBe(load.accepted.get(planned.key));
  return ends;
};

/** One of so many issued invoices is canceled. */
const CANCELED_SHARE = 10;
/** One of so many cancellations loses its answer. */
const LOST_SHARE = 2;

const expectCancellations = async (ends: readonly End[], load: Load, simulator: ExternalSimulator): Promise<void> => {
  const chosen = ends.filter(({ seen }) => seen.status === 'issued').filter((_, index) => index % CANCELED_SHARE === 0);
  await Promise.all(
    chosen.map(async ({ planned, seen }, index) => {
      if (index % LOST_SHARE === 0)
        await simulator.order({ on: 'event', kind: 'lost_after_commit' }, planned.amountInCents);
      expect((await load.cancel(seen.id)).cancellation?.status).toBe('succeeded');
    }),
  );
  expect((await simulator.notes()).filter(isCanceled)).toHaveLength(chosen.length);
};

const mishapsOf = ({ counts }: Fleet): string =>
  MISHAPS.map((mishap) => {
    const each = Object.entries(counts[mishap]);
    const total = each.reduce((sum, [, count]) => sum + count, 0);
    return `${mishap} ${total} (${each.map(([role, count]) => `${role} ${count}`).join(', ')})`;
  }).join('; ');

type End = { planned: PlannedInvoice; seen: Invoice };

/** Of one invoice: sends by what was recorded before them, look-ups by what the authorizer received. */
type MostCalls = { sends: number; lookUps: number };

type Call = { method: string; path: string };

const readCalls = async (controlUrl: string): Promise<readonly Call[]> =>
  (await (await fetch(`${controlUrl}/_control/calls`)).json()) as readonly Call[];

const mostCalls = (events: readonly RecordedEvent[], calls: readonly Call[]): MostCalls => ({
  sends: mostOf(events.filter(({ type }) => type === 'IssuanceAttempted').map(({ stream }) => stream)),
  lookUps: mostOf(calls.filter(({ path }) => path.includes('/dps/')).map(({ path }) => path)),
});

const mostOf = (names: readonly string[]): number => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Math.max(0, ...counts.values());
};

const callsLine = ({ sends, lookUps }: MostCalls): string => `${sends} sends, ${lookUps} look-ups`;

/** How invoices ended, by the fault that was ordered for them. */
const endsTable = (ends: readonly End[]): string => {
  const statuses = [...new Set(ends.map(({ seen }) => seen.status))].sort();
  const kinds = [...new Set(ends.map(({ planned }) => planned.fault ?? 'none'))].sort();
  const rows = kinds.map((kind) => {
    const own = ends.filter(({ planned }) => (planned.fault ?? 'none') === kind);
    return [kind, own.length, ...statuses.map((status) => own.filter(({ seen }) => seen.status === status).length)];
  });
  return aligned([['fault', 'invoices', ...statuses], ...rows]).join('\n');
};
