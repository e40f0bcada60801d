import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { createCarefulClient, type SeenInvoice, waitFor } from '../support/harness/careful-client.js';
import type { CrashHarness } from '../support/harness/crash.js';
import { type Program, runProgram, startProgram } from '../support/harness/processes.js';
import type { ExternalSimulator } from '../support/harness/simulator-process.js';
import type { KillPoint } from './kill-point.js';
import type { Scenario } from './scenarios.js';
import type { Survivor } from './survivor.js';

const CHILD = 'test/crash/child.ts';

/** The parts of one crash. */
export type Crash = {
  point: KillPoint;
  scenario: Scenario;
  harness: CrashHarness;
  simulator: ExternalSimulator;
  /** Unique in the whole run; identifies the notes of this crash in the ledger. */
  amountInCents: number;
};

export type Served = { client: ReturnType<typeof createCarefulClient> };

/** In a process of its own, which can be killed. */
export type Running = Served & { program: Program };

const DIES_WITHIN_MS = 120_000;
const ENDS_WITHIN_MS = 120_000;
/** An abandoned key is leased for 5 s. */
const LEASE_WITHIN_MS = 120_000;

/** The whole service on the harness's data; `doomed` dies at the crash's point. */
export const serve = async ({ harness, ...crash }: Crash, fate: 'doomed' | 'lives'): Promise<Running> => {
  const { scenario } = crash;
  const own = fate === 'doomed' ? { ...scenario.firstEnv, ...killOrder({ harness, ...crash }) } : {};
  const env = { ...harness.env, ...scenario.env, ...own };
  const program = await startProgram<{ url: string }>([CHILD, 'serve'], env);
  return { program, client: createCarefulClient(program.ready.url, harness.key) };
};

/** The whole service on the harness's data, in the process that is never killed. */
export const recover = async (
  survivor: Survivor,
  { harness, scenario }: Crash,
): Promise<Served & { end(): Promise<void> }> => {
  const origin = await survivor.start({ ...harness.env, ...scenario.env });
  return { client: createCarefulClient(origin, harness.key), end: () => survivor.stop(origin) };
};

/** The operator's process moves the company to another number. */
export const operate = async (crash: Crash, nextNumber: number, fate: 'doomed' | 'lives'): Promise<Program> => {
  const file = await crash.harness.companyFile(nextNumber);
  return runProgram([CHILD, 'operate', file], {
    ...crash.harness.env,
    ...(fate === 'doomed' ? killOrder(crash) : {}),
  });
};

const marker = ({ harness }: Crash): string => join(harness.folder, 'died-at');

const killOrder = (crash: Crash): Record<string, string> => ({
  CRASH_POINT: crash.point,
  CRASH_OCCURRENCE: String(crash.scenario.occurrence ?? 1),
  CRASH_MARKER: marker(crash),
  CRASH_CONTROL_URL: crash.simulator.controlUrl,
  CRASH_AMOUNT: String(crash.amountInCents),
});

/** The process ended by SIGKILL, and at this very point. */
export const expectDeath = async (crash: Crash, program: Program): Promise<void> => {
  const seen = await Promise.race([program.ended, pause(DIES_WITHIN_MS, 'lives', { ref: false })]);
  expect(seen, program.complaint()).toEqual({ code: null, signal: 'SIGKILL' });
  const file = marker(crash);
  expect(existsSync(file) ? readFileSync(file, 'utf8') : 'nowhere').toBe(crash.point);
};

const bodyOf = ({ amountInCents, scenario }: Crash) => ({
  amount_in_cents: amountInCents,
  description: 'Desenvolvimento de sistema',
  customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
  ...(scenario.asks === 'with a reference' ? { reference: referenceOf({ amountInCents }) } : {}),
});

const referenceOf = ({ amountInCents }: Pick<Crash, 'amountInCents'>): string => `pedido-${amountInCents}`;

/**
 * Asks as a careful client does: after a 503 or a key in use it sends the same request again, with a reference only when it is not
 * found. Undefined: the connection broke, and the client knows nothing.
 */
export const issue = async (crash: Crash, running: Served): Promise<string | undefined> => {
  const heard = await waitFor('an answer to the request', LEASE_WITHIN_MS, () =>
    tryToIssue(crash, running).catch((error: unknown) => {
      if (error instanceof TypeError) return BROKEN;
      throw error;
    }),
  );
  return heard === BROKEN ? undefined : heard;
};

/** The same request after the restart, which must find the result of the first one. */
export const issueAgain = async (crash: Crash, running: Served): Promise<string> => {
  const id = await issue(crash, running);
  if (id === undefined) throw new Error('the restarted service broke the connection');
  return id;
};

/** What `fetch` throws for a connection that is refused or breaks is a TypeError. */
const BROKEN = 'broken';

const tryToIssue = async (crash: Crash, { client }: Served): Promise<string | undefined> => {
  const hasKey = crash.scenario.asks !== 'with a reference';
  if (!hasKey) {
    const found = await client.findByReference(referenceOf(crash));
    if (found !== undefined) return found.id;
  }
  const answer = await client.issue(bodyOf(crash), hasKey ? `key-${crash.amountInCents}` : undefined);
  if (answer.status === 503 || answer.body.error?.code === 'idempotency_key_in_use') return undefined;
  expect(answer).toMatchObject({ status: 202, body: { amount_in_cents: crash.amountInCents } });
  return answer.body.id;
};

export const untilSettled = ({ client }: Served, id: string): Promise<SeenInvoice> =>
  client.pollUntil(id, ENDS_WITHIN_MS, ({ status }) => status !== 'queued' && status !== 'processing');

export const untilIssued = async (running: Served, id: string | undefined): Promise<string> => {
  const invoice = await untilSettled(running, id ?? '');
  expect(invoice.status).toBe('issued');
  return invoice.id;
};

/** Asks for the cancellation until it shows, and waits for its end. */
export const cancelAgain = async ({ client }: Served, id: string): Promise<SeenInvoice> => {
  await waitFor('the cancellation to show', ENDS_WITHIN_MS, async () => {
    if ((await client.get(id)).cancellation !== undefined) return true;
    expect([202, 503]).toContain((await client.cancel(id)).status);
    return undefined;
  });
  return await client.pollUntil(id, ENDS_WITHIN_MS, ({ cancellation }) => cancellation?.status !== 'pending');
};
