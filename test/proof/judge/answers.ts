import { isDeepStrictEqual } from 'node:util';
import type { Finding } from './finding.js';
import type { Exchange, Raw, Tenant } from './raw.js';
import { isPromise } from './requests.js';
import type { Story } from './story.js';

/** What one answer showed of one invoice. Instants as text sort by time. */
type Sight = {
  id: string;
  mode: Tenant['mode'] | undefined;
  began: string;
  ended: string;
  status: string;
  cancellation: string;
  accessKey: string;
  body: Readonly<Record<string, unknown>>;
};

/** How far an invoice is; an answer never shows less than an earlier one. */
export const RANK: Readonly<Record<string, number>> = {
  queued: 0,
  processing: 1,
  issued: 2,
  failed: 2,
  indeterminate: 2,
  canceled: 3,
};

const bodiesOf = ({ status, answer }: Exchange): readonly Readonly<Record<string, unknown>>[] => {
  if (status === undefined || status >= 300 || answer === undefined) return [];
  if (Array.isArray(answer.data)) return answer.data;
  return typeof answer.id === 'string' ? [answer] : [];
};

/** Fields in which all answers about an invoice agree. */
const FIXED = [
  'livemode',
  'amount_in_cents',
  'description',
  'competence',
  'customer',
  'reference',
  'service_code',
  'cnae',
  'created_at',
] as const;
/** Fields in which all answers agree that have them. */
const SET_ONCE = ['access_key', 'issued_at'] as const;

const sightsOf = (exchange: Exchange, { tenants }: Raw['run']): readonly Sight[] =>
  bodiesOf(exchange).flatMap((body) => {
    const cancellation = body.cancellation as { status?: string } | undefined;
    if (typeof body.status !== 'string') return [];
    return {
      id: String(body.id),
      mode: tenants[exchange.tenant]?.mode,
      began: exchange.began,
      ended: exchange.ended,
      status: body.status,
      cancellation: cancellation?.status ?? '',
      accessKey: typeof body.access_key === 'string' ? body.access_key : '',
      body,
    };
  });

/** No answer goes back behind one that was complete before it was asked for, and fixed fields are the same in all answers. */
export const judgeOrder = ({ http, run }: Raw): readonly Finding[] => {
  const byInvoice = new Map<string, Sight[]>();
  for (const exchange of http)
    for (const sight of sightsOf(exchange, run)) {
      const own = byInvoice.get(sight.id);
      if (own === undefined) byInvoice.set(sight.id, [sight]);
      else own.push(sight);
    }
  return [...byInvoice].flatMap(([id, sights]) => [...backwardsIn(id, sights), ...changedIn(id, sights)]);
};

const changedIn = (id: string, sights: readonly Sight[]): readonly Finding[] => {
  const since = (field: string): readonly Sight[] => sights.filter(({ body }) => body[field] !== undefined);
  const compared = [
    ...FIXED.map((field) => ({ field, among: sights })),
    ...SET_ONCE.map((field) => ({ field, among: since(field) })),
  ];
  const changed = compared.flatMap(({ field, among: [first, ...others] }) => {
    const other = others.find(({ body }) => !isDeepStrictEqual(body[field], first?.body[field]));
    return first === undefined || other === undefined ? [] : { field, instants: `${first.ended} and ${other.ended}` };
  });
  const [first] = changed;
  if (first === undefined) return [];
  const fields = changed.map(({ field }) => field).join(', ');
  return [
    {
      name: 'answer_changed',
      detail: `two answers about ${id} differ in ${fields}`,
      evidence: `answers of ${first.instants}`,
    },
  ];
};

const backwardsIn = (id: string, sights: readonly Sight[]): readonly Finding[] => {
  const complete = [...sights].sort((one, other) => (one.ended < other.ended ? -1 : 1));
  const asked = [...sights].sort((one, other) => (one.began < other.began ? -1 : 1));
  let next = 0;
  let furthest: Sight | undefined;
  for (const sight of asked) {
    for (let done = complete[next]; done !== undefined && done.ended < sight.began; done = complete[next]) {
      if (furthest === undefined || isBehind(furthest, done)) furthest = done;
      next += 1;
    }
    if (furthest !== undefined && isBehind(sight, furthest))
      return [
        {
          name: 'status_backwards',
          detail: `${id} was ${textOf(furthest)} and then ${textOf(sight)}`,
          evidence: `answers of ${furthest.ended} and ${sight.ended}`,
        },
      ];
  }
  return [];
};

const textOf = ({ status, cancellation }: Sight): string =>
  cancellation === '' ? status : `${status}, cancellation ${cancellation}`;

const rankOf = ({ status }: Sight): number => RANK[status] ?? -1;

/**
 * Whether the first shows less than the second, or another outcome or another note. A failed cancellation may be asked for again in test mode, and is
 * final in live mode (SVC-10.4).
 */
const isBehind = (sight: Sight, than: Sight): boolean => {
  if (rankOf(sight) !== rankOf(than)) return rankOf(sight) < rankOf(than);
  if (rankOf(sight) === 2 && sight.status !== than.status) return true;
  if (sight.accessKey !== than.accessKey) return true;
  return (
    (sight.cancellation === '' && than.cancellation !== '') ||
    (sight.cancellation === 'pending' && than.cancellation === 'succeeded') ||
    (sight.cancellation === 'pending' && than.cancellation === 'failed' && sight.mode === 'live')
  );
};

/** A key, a reference and an unkeyed request that is repeated at once each stand for one invoice and for one body. */
export const judgeRepeats = ({ http }: Raw): readonly Finding[] => {
  const groups = new Map<string, { name: Finding['name']; promises: Exchange[] }>();
  const add = (group: string, name: Finding['name'], promise: Exchange): void => {
    const known = groups.get(group) ?? { name, promises: [] };
    known.promises.push(promise);
    groups.set(group, known);
  };
  for (const promise of http.filter(isPromise)) {
    const { tenant, intent, idempotencyKey, body } = promise;
    const { reference } = body ?? {};
    if (idempotencyKey !== undefined) add(`${tenant}, key ${idempotencyKey}`, 'key_forgotten', promise);
    if (reference !== undefined) add(`${tenant}, reference ${String(reference)}`, 'reference_taken_twice', promise);
    if (idempotencyKey === undefined && reference === undefined)
      add(`${tenant}, unkeyed ${intent}`, 'second_note', promise);
  }
  return [...groups].flatMap(([group, { name, promises }]): readonly Finding[] => {
    const ids = new Map(promises.map(({ answer, ended }) => [String(answer?.id), ended]));
    const [first] = promises;
    const other = promises.find(({ body }) => !isDeepStrictEqual(body, first?.body));
    return [
      ...(ids.size <= 1
        ? []
        : [
            {
              name,
              detail: `${group} gave ${[...ids.keys()].join(' and ')}`,
              evidence: `answers of ${[...ids.values()].join(' and ')}`,
            },
          ]),
      ...(first === undefined || other === undefined
        ? []
        : [
            {
              name: 'other_request_answered' as const,
              detail: `${group} was accepted with two bodies`,
              evidence: `answers of ${first.ended} and ${other.ended}`,
            },
          ]),
    ];
  });
};

/** Nothing of one company or mode is shown to another, and what was accepted is found from then on. */
export const judgeTenants = ({ http, run }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const owners = new Map(stories.map(({ id, tenant }) => [id, tenant]));
  const promised = new Map<string, string>();
  for (const { answer, ended } of http.filter(isPromise)) {
    const id = String(answer?.id);
    const before = promised.get(id);
    if (before === undefined || ended < before) promised.set(id, ended);
  }
  return http.flatMap((exchange): readonly Finding[] => {
    const reader = run.tenants[exchange.tenant];
    const foreign = bodiesOf(exchange).find(({ id }) => isOther(reader, owners.get(String(id))));
    if (foreign !== undefined)
      return [
        {
          name: 'foreign_invoice_shown',
          detail: `${exchange.tenant} was shown ${String(foreign.id)}`,
          evidence: `${exchange.method} ${exchange.path} at ${exchange.ended}`,
        },
      ];
    const [, id] = /^\/v1\/nfse\/(nfse_[0-9a-f-]{36})$/.exec(exchange.path) ?? [];
    const since = promised.get(id ?? '');
    const isGone =
      exchange.method === 'GET' &&
      exchange.status === 404 &&
      id !== undefined &&
      since !== undefined &&
      since < exchange.began &&
      !isOther(reader, owners.get(id));
    return isGone
      ? [{ name: 'lost_invoice', detail: `${id} was accepted and not found`, evidence: exchange.ended }]
      : [];
  });
};

const isOther = (reader: Tenant | undefined, owner: Tenant | undefined): boolean =>
  reader !== undefined && owner !== undefined && (reader.cnpj !== owner.cnpj || reader.mode !== owner.mode);

/** A cancellation that a client was told of stands at the authorizer. */
export const judgeCanceledAnswers = ({ http, ledger, run }: Raw): readonly Finding[] => {
  const canceled = new Set(
    ledger.flatMap(({ access_key, canceled_at, environment }) =>
      canceled_at === undefined ? [] : `${environment} ${access_key}`,
    ),
  );
  const told = new Set<string>();
  return http.flatMap((exchange) =>
    sightsOf(exchange, run).flatMap(({ id, mode, status, cancellation, accessKey, ended }) => {
      const isTold = status === 'canceled' || cancellation === 'succeeded';
      if (!isTold || canceled.has(`${mode} ${accessKey}`) || told.has(id)) return [];
      told.add(id);
      return [
        {
          name: 'cancel_without_event' as const,
          detail: `${id} was shown as canceled, and the authorizer holds no event`,
          evidence: `${exchange.path} at ${ended}`,
        },
      ];
    }),
  );
};

/** The contract knows no answer 500 for what befalls the service here: it says 503, or the connection is lost. */
export const judgeFailures = ({ http }: Raw): readonly Finding[] =>
  http
    .filter(({ status }) => status === 500)
    .map(({ method, path, ended }) => ({
      name: 'trouble',
      detail: `${method} ${path} was answered with 500`,
      evidence: `answer of ${ended}`,
    }));
