import fc from 'fast-check';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import type { CallOptions, KeyName } from '../../support/harness/http.js';

/** Plain data, so that a counterexample can be read. */
export type FuzzStep = {
  target: Target;
  options: CallOptions;
};

/** `{id}` of the path stands for the invoice `pick`, counted round those that exist by then, or for `otherwise`. */
type Target = { path: string; pick?: number; otherwise?: string };

export const pathOf = ({ path, pick = 0, otherwise = '' }: Target, ids: readonly string[]): string =>
  path.replace('{id}', () => ids[pick % Math.max(1, ids.length)] ?? otherwise);

const fieldNames = [
  'amount_in_cents',
  'description',
  'customer',
  'foreign_amount',
  'reference',
  'cnae',
  'service_code',
  'reason',
  'document',
  'type',
  'address',
  'country',
  'currency',
  'amount',
  '__proto__',
  'toString',
];

const anything = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(null, '', ' ', 0, -1, 99, 100, 2 ** 53, 1e300, 100.5, true, [], {}) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('6201501', '010101', '12345678909', '98765432000198', 'US', 'USD', 'foreign'),
  },
);

const good = fc.constantFrom<object>(
  issueBodyOf(),
  exportBodyOf(),
  issueBodyOf({ customer: { document: '98765432000198' } }),
  issueBodyOf({ cnae: '6201501', service_code: '010201' }),
  {},
  { reason: 'other', description: 'Cliente desistiu do serviço' },
);

/** Well-formed bodies that each break one rule of the 422. */
const refusable = fc.constantFrom<object>(
  issueBodyOf({ cnae: '6202300' }),
  issueBodyOf({ cnae: '9999999' }),
  issueBodyOf({ service_code: '999999' }),
  issueBodyOf({ service_code: '140101' }),
  issueBodyOf({ customer: { document: '12345678909' } }),
  issueBodyOf({ customer: { tax_id: '1' } }),
  exportBodyOf({ foreign_amount: { currency: 'XXX', amount_in_cents: 1 } }),
  exportBodyOf({ foreign_amount: { currency: 'USD', amount_in_cents: 0 } }),
  exportBodyOf({ cnae: '6311900' }),
  { customer: { type: 'foreign' }, amount_in_cents: 100, description: 'x' },
);

/** A good body with other values somewhere: fields changed, added or taken away, at its top or one level below. */
const mutated = fc
  .tuple(
    good,
    fc.array(fc.tuple(fc.constantFrom(...fieldNames), anything, fc.nat(3)), { maxLength: 2 }),
    fc.nat(10_000),
  )
  .map(([body, changes, cents]) => {
    const copy = structuredClone(body) as Record<string, unknown>;
    if ('amount_in_cents' in copy) copy.amount_in_cents = 100 + cents;
    for (const [name, value, how] of changes) {
      const { customer } = copy;
      const target = how === 1 && typeof customer === 'object' && customer !== null ? { ...customer } : copy;
      if (how === 0) delete copy[name];
      else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
      if (target !== copy) copy.customer = target;
    }
    return JSON.stringify(copy);
  });

const raw = fc.oneof(
  { weight: 9, arbitrary: mutated },
  { weight: 5, arbitrary: good.map((body) => JSON.stringify(body)) },
  { weight: 2, arbitrary: refusable.map((body) => JSON.stringify(body)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
);

const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<KeyName>('test', 'live') },
  {
    weight: 2,
    arbitrary: fc.constantFrom<KeyName | 'none'>(
      'otherCompany',
      'readOnly',
      'writeOnly',
      'revoked',
      'disabled',
      'none',
    ),
  },
);

/** The characters that a header may contain; HTTP clients refuse to send others. */
const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });

const strangeHeaders = fc.record(
  {
    'idempotency-key': visible,
    'content-type': fc.constantFrom('application/json; charset=utf-8', 'text/plain', ''),
    authorization: fc.oneof(fc.constantFrom('Bearer', 'Basic x'), visible),
    range: fc.constant('bytes=0-1'),
  },
  { requiredKeys: [] },
);

const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.constantFrom('k1', 'k2', 'k3').map((name) => ({ 'idempotency-key': name })) },
  { weight: 1, arbitrary: strangeHeaders },
);

const strangeId = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => `nfse_${id}`),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((text) => encodeURIComponent(text)),
);

const reading = fc.constantFrom('', '/pdf', '/xml', '/cancel', '/pdf?t=x', '/xml?t=', '/nope', '?x=1');

const idTarget: fc.Arbitrary<Target> = fc
  .tuple(fc.nat(), strangeId, fc.integer({ min: 0, max: 9 }), reading)
  .map(([pick, otherwise, dice, rest]) =>
    dice < 7 ? { path: `/v1/nfse/{id}${rest}`, pick, otherwise } : { path: `/v1/nfse/${otherwise}${rest}` },
  );

const reference = fc.oneof(fc.constantFrom('', 'r1', 'a%20b'), fc.string({ unit: 'binary' }));

const fixedTarget: fc.Arbitrary<Target> = fc
  .oneof(
    fc.constantFrom('/v1/activities', '/v1/nope', '/v1', '/nope', '/docs', '/openapi.json', '/v1/nfse?reference'),
    reference.map((text) => `/v1/nfse?reference=${encodeURIComponent(text)}`),
  )
  .map((path) => ({ path }));

const issueTarget = fc.constant<Target>({ path: '/v1/nfse' });

const method = fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS');

const request = (target: fc.Arbitrary<Target>, how: fc.Arbitrary<string>): fc.Arbitrary<FuzzStep> =>
  fc.tuple(target, how, key, headers, raw).map(([to, chosen, name, sent, body]) => ({
    target: to,
    options: {
      method: chosen,
      key: name,
      headers: sent,
      ...(chosen === 'GET' || chosen === 'HEAD' ? {} : { raw: body }),
    },
  }));

/** One request, good or not; most issue, so that there is something to read, cancel and repeat. */
export const fuzzStep: fc.Arbitrary<FuzzStep> = fc.oneof(
  { weight: 5, arbitrary: request(issueTarget, fc.constant('POST')) },
  { weight: 3, arbitrary: request(idTarget, fc.constantFrom('GET', 'POST')) },
  { weight: 2, arbitrary: request(fixedTarget, fc.constant('GET')) },
  { weight: 1, arbitrary: request(fc.oneof(idTarget, fixedTarget, issueTarget), method) },
);
