import { setTimeout as pause } from 'node:timers/promises';
import type { AuthorizerOfRun } from './authorizer.js';
import { drawsOf } from './draws.js';
import type { Exchange } from './judge/raw.js';
import type { Recorder } from './recorder.js';
import type { Keys, TenantName } from './tenants.js';
import type { Request, Wish } from './wishes.js';

/** An invoice that a client was promised. */
type Promised = { id: string; tenant: TenantName; wish: Wish; request: Request };

export type Clients = {
  /** Plays a wish from its request to what the client wants to know, and gives up after a while. */
  play(wish: Wish): Promise<void>;
  /** Everything that was answered with 202, by id. */
  promised: ReadonlyMap<string, Promised>;
  ask(question: Question): Promise<Heard>;
};

type Question = {
  tenant: TenantName;
  intent: string;
  method: 'GET' | 'POST';
  path: string;
  request?: Request;
  vanishAfterMs?: number;
};

type Heard = { status?: number; answer?: Readonly<Record<string, unknown>> };

type Surroundings = {
  seed: number;
  keys: Keys;
  origins(): readonly string[];
  recorder: Recorder;
  authorizer: AuthorizerOfRun;
  /** Hears each exchange, for the live line. */
  heard(exchange: Exchange): void;
  /** Hears each fault that is ordered. */
  ordered(): void;
  signal: AbortSignal;
};

/** A frozen process takes requests and never answers. */
const ANSWER_WITHIN_MS = 15_000;
const ASKS_FOR_MS = 60_000;
const POLLS_FOR_MS = 15_000;
const POLL_MS = 700;

export const createClients = ({
  seed,
  keys,
  origins,
  recorder,
  authorizer,
  heard,
  ordered,
  signal,
}: Surroundings): Clients => {
  const promised = new Map<string, Promised>();
  let turn = 0;

  const ask = async ({ tenant, intent, method, path, request, vanishAfterMs }: Question): Promise<Heard> => {
    const all = origins();
    turn += 1;
    const origin = all[turn % all.length] ?? '';
    const began = new Date().toISOString();
    const about = {
      tenant,
      intent,
      method,
      path,
      ...(request?.idempotencyKey === undefined ? {} : { idempotencyKey: request.idempotencyKey }),
      ...(request === undefined ? {} : { body: request.body }),
      began,
    };
    const note = (outcome: Pick<Exchange, 'status' | 'answer' | 'lost'>): Heard => {
      const exchange: Exchange = { ...about, ended: new Date().toISOString(), ...outcome };
      recorder.exchange(exchange);
      heard(exchange);
      return outcome;
    };
    try {
      const response = await fetch(`${origin}${path}`, {
        method,
        signal: AbortSignal.timeout(vanishAfterMs ?? ANSWER_WITHIN_MS),
        headers: {
          authorization: `Bearer ${keys[tenant]}`,
          ...(request === undefined ? {} : { 'content-type': 'application/json' }),
          ...(request?.idempotencyKey === undefined ? {} : { 'idempotency-key': request.idempotencyKey }),
        },
        ...(request === undefined ? {} : { body: JSON.stringify(request.body) }),
      });
      const answer = (await response.json()) as Readonly<Record<string, unknown>>;
      return note({ status: response.status, answer });
    } catch (error) {
      if (vanishAfterMs !== undefined) return note({ lost: 'the client vanished' });
      return note({ lost: causeOf(error) });
    }
  };

  const keep = (wish: Wish, request: Request, { status, answer }: Heard): string | undefined => {
    if (status !== 202 || typeof answer?.id !== 'string') return undefined;
    promised.set(answer.id, { id: answer.id, tenant: wish.tenant, wish, request });
    return answer.id;
  };

  /** Repeats a request for as long as the answer is lost or says that it may be repeated. */
  const issue = async (wish: Wish, request: Request): Promise<string | undefined> => {
    const until = Date.now() + ASKS_FOR_MS;
    while (Date.now() < until && !signal.aborted) {
      const { tenant, name: intent } = wish;
      const answer = await ask({ tenant, intent, method: 'POST', path: '/v1/nfse', request });
      const id = keep(wish, request, answer);
      if (id !== undefined) return id;
      if (!mayRepeat(answer)) return idInRefusal(answer);
      await pause(RETRY_MS);
    }
    return undefined;
  };

  /** An answer that shows what is looked for, within a while. */
  const poll = async (
    wish: Wish,
    id: string,
    isOver: (answer: Readonly<Record<string, unknown>>) => boolean,
  ): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const until = Date.now() + POLLS_FOR_MS;
    while (Date.now() < until && !signal.aborted) {
      const { status, answer } = await ask({
        tenant: wish.tenant,
        intent: wish.name,
        method: 'GET',
        path: `/v1/nfse/${id}`,
      });
      if (status === 200 && answer !== undefined && isOver(answer)) return answer;
      await pause(POLL_MS);
    }
    return undefined;
  };

  const cancel = async (wish: Wish, id: string): Promise<void> => {
    const question: Question = {
      tenant: wish.tenant,
      intent: wish.name,
      method: 'POST',
      path: `/v1/nfse/${id}/cancel`,
      request: { body: { reason: 'other' } },
    };
    const times = wish.cancels === 'twice at once' ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => ask(question)));
    await poll(wish, id, ({ cancellation }) => {
      const { status } = (cancellation ?? {}) as { status?: string };
      return status === 'succeeded' || status === 'failed';
    });
  };

  const request = async (wish: Wish): Promise<readonly string[]> => {
    const [first] = wish.requests;
    if (first === undefined) return [];
    const { tenant, name: intent, vanishesAfterMs: vanishAfterMs } = wish;
    if (wish.kind === 'vanishes' || wish.kind === 'vanishes and returns') {
      const gone = { tenant, intent, method: 'POST' as const, path: '/v1/nfse', request: first, vanishAfterMs };
      keep(wish, first, await ask(gone));
      if (wish.kind === 'vanishes') return [];
      await pause(drawsOf(seed, `return ${wish.name}`).below(5_000));
    }
    const ids = await Promise.all(wish.requests.map((one) => issue(wish, one)));
    return [...new Set(ids.flatMap((id) => id ?? []))];
  };

  const play = async (wish: Wish): Promise<void> => {
    for (const fault of wish.faults)
      for (const amount of new Set(wish.requests.map(({ body }) => body.amount_in_cents))) {
        const order = { ...fault, match: { amount_in_cents: amount } };
        await authorizer.orderFault(order);
        ordered();
        recorder.fault({ at: new Date().toISOString(), intent: wish.name, ...order });
      }
    for (const id of await request(wish)) {
      const { tenant, name: intent } = wish;
      if (wish.stranger !== undefined)
        await ask({ tenant: wish.stranger, intent, method: 'GET', path: `/v1/nfse/${id}` });
      const seen = await poll(wish, id, ({ status }) => status !== 'queued' && status !== 'processing');
      const { reference } = seen ?? {};
      if (wish.findsByReference && typeof reference === 'string')
        await ask({ tenant, intent, method: 'GET', path: `/v1/nfse?reference=${encodeURIComponent(reference)}` });
      if (wish.cancels !== 'no' && seen?.status === 'issued') await cancel(wish, id);
    }
  };

  return { play, promised, ask };
};

const RETRY_MS = 250;

const errorOf = ({ answer }: Heard) =>
  (answer?.error ?? {}) as { retryable?: boolean; message?: string; code?: string };

const mayRepeat = (heard: Heard): boolean => heard.status === undefined || errorOf(heard).retryable === true;

/** The refusal of a reference or of a repeat names the invoice that is there already. */
const idInRefusal = (heard: Heard): string | undefined => {
  const [id] = /nfse_[0-9a-f-]{36}/.exec(errorOf(heard).message ?? '') ?? [];
  return id;
};

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return (cause as { code?: string } | undefined)?.code ?? error.name;
};
