import { type Fault, faultsOn, isCanceledIn, planOf } from '../e2e/fault-kinds.js';
import { between, drawsOf, inPercent } from './draws.js';
import { TENANT_NAMES, type TenantName } from './tenants.js';

/** How a client asks: alone with what protects a repeat, in a race with itself, or gone before the answer. */
export const WISH_KINDS = [
  'key',
  'reference',
  'key and reference',
  'unkeyed',
  'same key at once',
  'same key, other body',
  'same reference, other body',
  'vanishes and returns',
  'vanishes',
] as const;
type WishKind = (typeof WISH_KINDS)[number];

const SHARES: Readonly<Record<WishKind, number>> = {
  key: 30,
  reference: 14,
  'key and reference': 10,
  unkeyed: 6,
  'same key at once': 12,
  'same key, other body': 6,
  'same reference, other body': 8,
  'vanishes and returns': 8,
  vanishes: 6,
};

export type Request = { idempotencyKey?: string; body: Readonly<Record<string, unknown>> };

/** One invoice that a client wants, with everything that is drawn for it. */
export type Wish = {
  name: string;
  tenant: TenantName;
  kind: WishKind;
  /** One, or those that race. Each has an amount of its own. */
  requests: readonly Request[];
  /** Milliseconds after which the client is gone. */
  vanishesAfterMs: number;
  faults: readonly OrderedFault[];
  cancels: 'no' | 'once' | 'twice at once';
  /** Another tenant that looks at the invoice. */
  stranger: TenantName | undefined;
  findsByReference: boolean;
};

/** As the control port takes it, without the amount that selects the note. */
type OrderedFault = { on: string; kind: string; delay_ms?: number; commit?: boolean; code?: string };

/** Texts that only sealed fields may hold. */
export const PERSONAL = ['Sigiloso', 'sigiloso', '52998224725'] as const;

const FIRST_AMOUNT = 100_000;
/** Amounts of one wish. */
const AMOUNTS = 4;
/** Every so many wishes one meets a fault, so that a run of some length meets all of them. */
const FAULT_EVERY = 7;
const CANCELS_PERCENT = 15;
const STRANGERS_PERCENT = 10;

/** Every way in which the authorizer can fail at a call, in an order that the seed decides. */
export const faultDeck = (seed: number): readonly Fault[] =>
  drawsOf(seed, 'faults').shuffled(
    faultsOn('issue', 'lookup', 'fetch', 'event', 'event_lookup').filter((fault) => !isOutOfReach(fault)),
  );

/** No rule helps where the authorizer makes a note of what it has refused long after the send (ADR 41). */
const isOutOfReach = ({ kind, code }: Fault): boolean => code !== undefined && kind === 'late_commit';

/** The wish with this number, the same for the same seed whenever it is drawn. */
export const wishOf = (seed: number, number: number, deck: readonly Fault[]): Wish => {
  const draws = drawsOf(seed, `wish ${number}`);
  const kind = kindAt(draws.below(100));
  const tenant = TENANT_NAMES[draws.below(TENANT_NAMES.length)] ?? 'a-test';
  const name = `w${number}`;
  const amounts = Array.from({ length: AMOUNTS }, (_, index) => FIRST_AMOUNT + number * AMOUNTS + index);
  const drawn = number % FAULT_EVERY === 0 ? deck[(number / FAULT_EVERY) % deck.length] : undefined;
  const plan = drawn === undefined ? undefined : planOf([drawn], false);
  const cancels = inPercent(draws, CANCELS_PERCENT) || (plan !== undefined && isCanceledIn(plan));
  return {
    name,
    tenant,
    kind,
    requests: requestsOf(kind, name, amounts),
    vanishesAfterMs: between(draws, 0, 120),
    faults: (plan?.faults ?? []).map((fault) => orderOf(fault, between(draws, 500, 9_000))),
    cancels: cancels ? (inPercent(draws, 25) ? 'twice at once' : 'once') : 'no',
    stranger: inPercent(draws, STRANGERS_PERCENT)
      ? TENANT_NAMES.filter((other) => other !== tenant)[draws.below(TENANT_NAMES.length - 1)]
      : undefined,
    findsByReference: inPercent(draws, 30),
  };
};

const kindAt = (place: number): WishKind => {
  let reached = 0;
  for (const kind of WISH_KINDS) {
    reached += SHARES[kind];
    if (place < reached) return kind;
  }
  return 'key';
};

const bodyOf = (name: string, amountInCents: number | undefined, reference?: string) => ({
  amount_in_cents: amountInCents,
  description: `Serviço sigiloso ${name}`,
  customer: { document: '52998224725', name: 'Sigismundo Sigiloso' },
  ...(reference === undefined ? {} : { reference }),
});

const requestsOf = (kind: WishKind, name: string, [first, second, third]: readonly number[]): readonly Request[] => {
  const key = `key-${name}`;
  const reference = `ref-${name}`;
  switch (kind) {
    case 'key':
    case 'vanishes and returns':
    case 'vanishes':
      return [{ idempotencyKey: key, body: bodyOf(name, first) }];
    case 'reference':
      return [{ body: bodyOf(name, first, reference) }];
    case 'key and reference':
      return [{ idempotencyKey: key, body: bodyOf(name, first, reference) }];
    case 'unkeyed':
      return [{ body: bodyOf(name, first) }];
    case 'same key at once': {
      const request = { idempotencyKey: key, body: bodyOf(name, first) };
      return [request, request, request];
    }
    case 'same key, other body':
      return [first, second].map((amount) => ({ idempotencyKey: key, body: bodyOf(name, amount) }));
    case 'same reference, other body':
      return [first, second, third].map((amount, index) => ({
        ...(index === 2 ? {} : { idempotencyKey: `${key}-${index}` }),
        body: bodyOf(name, amount, reference),
      }));
  }
};

/** Seconds of the fault matrix are of a moved clock; here time is real. */
const orderOf = ({ on, kind, commit, delaySeconds, code }: Fault, delayMs: number): OrderedFault => ({
  on,
  kind,
  ...(delaySeconds === undefined ? {} : { delay_ms: delayMs }),
  ...(commit === undefined ? {} : { commit }),
  ...(code === undefined ? {} : { code }),
});
