import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invoicePrefix, parseInvoiceStream, publicInvoiceId } from '../../../src/domain/common/ids.js';
import { attempted, authorized, createHarness, type Harness, type KeyName } from '../../support/harness/http.js';
import { type FuzzStep, fuzzStep, pathOf } from './requests.js';

/** Sequences of requests per seed; each sequence meets a fresh service. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 60);
const LONGEST = 30;

/** The seed is part of the title, so that a failing run can be repeated: `FUZZ_SEED=<seed>`. */
const FRESH_SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));

const NO_LIMITS = { rateLimits: { write: 1_000_000, read: 1_000_000 } };

type Tally = { requests: number; byStatus: Map<number, number> };

/** The public id behind a 202 of the issue route, which takes no notice of a query. */
const acceptedId = async (path: string, response: Response): Promise<string | undefined> => {
  if (path.split('?', 1)[0] !== '/v1/nfse' || response.status !== 202) return undefined;
  const { id } = (await response.json()) as { id: string };
  return id;
};

const play = async (steps: readonly FuzzStep[], tally: Tally): Promise<void> => {
  const harness = createHarness(NO_LIMITS);
  const accepted = new Set<string>();
  for (const step of steps) {
    const path = pathOf(step.target, [...accepted]);
    const { options } = step;
    // The harness throws for an answer that is not in the OpenAPI document.
    const response = await harness.call(path, options);
    tally.requests += 1;
    tally.byStatus.set(response.status, (tally.byStatus.get(response.status) ?? 0) + 1);
    expect(response.status, `${options.method} ${path}`).toBeLessThan(500);
    const id = await acceptedId(path, response);
    if (id !== undefined && !accepted.has(id)) {
      accepted.add(id);
      await settle(harness, id, options.key, accepted.size);
    }
    harness.pass(1);
  }
  expect(harness.faults).toEqual([]);
  expect(await invoicesOf(harness)).toEqual([...accepted].sort());
};

/** Every second invoice of the demo company is authorized at once, so that there is something to download and cancel. */
const settle = async (
  harness: Harness,
  id: string,
  key: KeyName | 'none' | undefined,
  count: number,
): Promise<void> => {
  if (count % 2 === 0 || (key !== 'test' && key !== 'live')) return;
  const { now } = harness.state;
  await harness.record(id, [attempted(now), authorized(now)], key);
};

/** Every invoice of the log, whatever company or mode. */
const invoicesOf = async ({ log }: Harness): Promise<readonly string[]> => {
  const events = await log.readAll({ prefixes: Object.values(invoicePrefix), after: null, limit: 100_000 });
  const ids = events.flatMap(({ type, stream }) => {
    const address = type === 'InvoiceAccepted' ? parseInvoiceStream(stream) : undefined;
    return address === undefined ? [] : [publicInvoiceId(address.invoiceId)];
  });
  return ids.sort();
};

const fuzz = async (seed: number): Promise<Tally> => {
  const tally: Tally = { requests: 0, byStatus: new Map() };
  const sequences = fc.array(fuzzStep, { minLength: 5, maxLength: LONGEST, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequences, (steps) => play(steps, tally)),
    { seed, numRuns: RUNS, endOnFailure: true },
  );
  return tally;
};

describe('random and mutated requests: never 500, never an answer outside the document, never an invoice without a 202', () => {
  it.each([20_261_121, FRESH_SEED])('seed %i', { timeout: 600_000 }, async (seed) => {
    const { requests, byStatus } = await fuzz(seed);
    const counts = [...byStatus].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    process.stdout.write(`fuzz seed ${seed}, ${RUNS} sequences, ${requests} requests; ${counts.join(', ')}\n`);
    expect(byStatus.get(202)).toBeGreaterThan(0);
  });
});
