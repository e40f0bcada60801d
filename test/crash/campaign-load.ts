import { createCarefulClient, type SeenInvoice, waitFor } from '../support/harness/careful-client.js';
import type { ExternalSimulator, FaultOrder } from '../support/harness/simulator-process.js';
import type { Seeded } from './seeded.js';

/** One invoice to issue, with a unique key and amount; the authorizer may fail at it once. */
export type PlannedInvoice = { key: string; amountInCents: number; fault: FaultKind | undefined };

export const FAULT_KINDS = [
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
export type FaultKind = (typeof FAULT_KINDS)[number];

const CLIENTS = 8;
/** Of all invoices, for each kind of fault. */
const SHARE = 0.01;
const FIRST_AMOUNT = 100_000;
const ANSWER_WITHIN_MS = 120_000;
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
  /** Repeats the request until an answer has the id; a lost connection, a 503 and a key in use do not count as answers. */
  issue(planned: PlannedInvoice): Promise<string>;
  endOf(id: string): Promise<SeenInvoice>;
  /** Asks for the cancellation and waits for what comes of it. */
  cancel(id: string): Promise<SeenInvoice>;
};

/** Clients that use another running api for each call, as behind a load balancer. */
export const startLoad = (
  all: readonly PlannedInvoice[],
  apiKey: string,
  origins: () => readonly string[],
  simulator: ExternalSimulator,
): Load => {
  let turn = 0;
  const client = () => {
    const running = origins();
    turn += 1;
    return createCarefulClient(running[turn % running.length] ?? 'http://127.0.0.1:1', apiKey);
  };

  const issue = ({ key, amountInCents }: PlannedInvoice): Promise<string> =>
    waitFor(`a 202 for ${key}`, ANSWER_WITHIN_MS, async () => {
      const answer = await client()
        .issue({ amount_in_cents: amountInCents, description: `Serviço ${key}` }, key)
        .catch(() => undefined);
      if (answer?.status === 202) return answer.body.id;
      const again = answer === undefined || answer.status === 503 || answer.body.error?.code.endsWith('key_in_use');
      if (again !== true) throw new Error(`${key}: ${answer?.status} ${answer?.body.error?.code}`);
      return undefined;
    });

  const endOf = (id: string): Promise<SeenInvoice> =>
    waitFor(`the end of ${id}`, ENDED_WITHIN_MS, async () => {
      const seen = await client()
        .find(id)
        .catch(() => undefined);
      return seen === undefined || seen.status === 'queued' || seen.status === 'processing' ? undefined : seen;
    });

  const cancel = (id: string): Promise<SeenInvoice> =>
    waitFor(`the cancellation of ${id}`, ENDED_WITHIN_MS, async () => {
      const seen = await client()
        .find(id)
        .catch(() => undefined);
      const { status } = seen?.cancellation ?? {};
      if (seen !== undefined && status !== undefined && status !== 'pending') return seen;
      // The next read shows the state after a lost answer.
      if (seen !== undefined && status === undefined)
        await client()
          .cancel(id)
          .catch(() => undefined);
      return undefined;
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

const orderOf = (kind: FaultKind): FaultOrder => ({
  on: 'issue',
  kind,
  ...(kind === 'slow' || kind === 'late_commit' ? { delay_ms: SLOW_MS } : {}),
  ...(kind === 'reject' ? { code: 'E0312' } : {}),
});
