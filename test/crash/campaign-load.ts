import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Invoice } from '../../src/client/client.js';
import { ApiError, NoAnswerError } from '../../src/client/errors.js';
import { waitFor } from '../support/harness/careful-client.js';
import type { ExternalSimulator, FaultOrder } from '../support/harness/simulator-process.js';
import type { Seeded } from './seeded.js';

/** One invoice to issue, with a unique key and amount; the authorizer may fail at it once. */
export type PlannedInvoice = { key: string; amountInCents: number; fault: FaultKind | undefined };

const FAULT_KINDS = [
  'lost_after_commit',
  'lost_before_commit',
  'late_commit',
  'slow',
  'reject',
  'http_429',
  'http_502_html',
  'http_503',
  'transient',
  'reset',
  'garbage',
] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

const CLIENTS = 8;
/** Of all invoices, for each kind of fault. */
const SHARE = 0.01;
const FIRST_AMOUNT = 100_000;
/** With the pauses between them, two minutes at least. */
const TRIES = 1_200;
const LONGEST_PAUSE_MS = 100;
/** Each opening of the breaker holds sends back for up to a minute. */
const ENDED_WITHIN_MS = 600_000;
/** Longer than the harness's authorizer time-out of 1 s. */
const SLOW_MS = 2_500;

export const planInvoices = (invoices: number, random: Seeded): readonly PlannedInvoice[] => {
  const each = Math.ceil(invoices * SHARE);
  const unlucky = random
    .shuffled(Array.from({ length: invoices }, (_, index) => index))
    .slice(0, each * FAULT_KINDS.length);
  return Array.from({ length: invoices }, (_, index) => {
    const place = unlucky.indexOf(index);
    const fault = place === -1 ? undefined : FAULT_KINDS[place % FAULT_KINDS.length];
    return { key: `campaign-${index}`, amountInCents: FIRST_AMOUNT + index, fault };
  });
};

export type Load = {
  /** Ids by key, so far. */
  accepted: ReadonlyMap<string, string>;
  /** Resolves when every planned invoice has its 202. */
  done: Promise<unknown>;
  /** The id that the service answers with, however often the request has to be repeated. */
  issue(planned: PlannedInvoice): Promise<string>;
  endOf(id: string): Promise<Invoice>;
  /** Asks for the cancellation and waits for what comes of it. */
  cancel(id: string): Promise<Invoice>;
};

/** Each try replaces it. */
const ANY_API = 'http://any-api.invalid';

/** Programs with the client of the API, each of whose tries goes to another running api, as behind a load balancer. */
export const startLoad = (
  all: readonly PlannedInvoice[],
  apiKey: string,
  origins: () => readonly string[],
  simulator: ExternalSimulator,
): Load => {
  let turn = 0;
  const client = createClient({
    baseUrl: ANY_API,
    key: apiKey,
    tries: TRIES,
    // Shorter than asked for, so that the load does not stop with the process that has the accident.
    sleep: (ms) => pause(Math.min(ms, LONGEST_PAUSE_MS)),
    fetch: (url, init) => {
      const running = origins();
      turn += 1;
      return fetch(`${running[turn % running.length] ?? 'http://127.0.0.1:1'}${url.slice(ANY_API.length)}`, init);
    },
  });

  const issue = async ({ key, amountInCents }: PlannedInvoice): Promise<string> => {
    const request = { amount_in_cents: amountInCents, description: `Serviço ${key}` };
    return (await client.issue(request, { idempotencyKey: key })).id;
  };

  const endOf = (id: string): Promise<Invoice> => client.waitForOutcome(id, { withinMs: ENDED_WITHIN_MS });

  /** A request that did not arrive, as the invoice then shows, is made again. */
  const cancel = (id: string): Promise<Invoice> =>
    waitFor(`the cancellation of ${id}`, ENDED_WITHIN_MS, async () => {
      const seen = await client.get(id);
      if (seen.cancellation === undefined) await client.cancel(id, { reason: 'other' }).catch(notArrived);
      return seen.cancellation === undefined || seen.cancellation.status === 'pending' ? undefined : seen;
    });

  const accepted = new Map<string, string>();
  const todo = [...all];
  const work = async (): Promise<void> => {
    for (let planned = todo.shift(); planned !== undefined; planned = todo.shift()) {
      if (planned.fault !== undefined) await simulator.order(orderOf(planned.fault), planned.amountInCents);
      accepted.set(planned.key, await issue(planned));
    }
  };
  return { accepted, done: Promise.all(Array.from({ length: CLIENTS }, work)), issue, endOf, cancel };
};

const notArrived = (error: unknown): void => {
  const mayArrive = error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);
  // The request before this one arrived after all.
  const hasArrived = error instanceof ApiError && /^nfse\.(?:cancel_in_progress|already_canceled)$/.test(error.code);
  if (!mayArrive && !hasArrived) throw error;
};

const orderOf = (kind: FaultKind): FaultOrder => ({
  on: 'issue',
  kind,
  ...(kind === 'slow' || kind === 'late_commit' ? { delay_ms: SLOW_MS } : {}),
  ...(kind === 'reject' ? { code: 'E0312' } : {}),
});
