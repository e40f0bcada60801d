import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { waitFor } from '../support/harness/careful-client.js';
import { readLedger } from '../support/harness/ledger.js';
import {
  openServiceProcesses,
  type ServiceProcess,
  type ServiceProcesses,
} from '../support/harness/service-processes.js';
import { CROWD, type PostAnswer, parallelPosts, postAnswerOf } from '../support/parallel-posts.js';
import { describeWithPostgres } from '../support/postgres.js';

const ISSUED_WITHIN_MS = 120_000;
/** A key that a dead process claimed is leased for 15 s. */
const LEASE_WITHIN_MS = 120_000;
/** Answers before the kill; the other requests under way are then at different stages. */
const HEARD_BEFORE_DEATH = 20;
/** Requests under way at once: fewer than all, so that the process cannot have answered all before it dies. */
const IN_HAND = 30;

describeWithPostgres('a hundred requests at once, spread over two processes,', () => {
  let service: ServiceProcesses;
  let everything: ServiceProcess;
  let apiAlone: ServiceProcess;
  let doomed: ServiceProcess;
  beforeAll(async () => {
    service = await openServiceProcesses();
    const start = (roles: string) => service.start(roles);
    [everything, apiAlone, doomed] = await Promise.all([start('all'), start('api'), start('api')]);
  });
  afterAll(() => service.close());

  parallelPosts(() => ({
    post: (index, body, idempotencyKey) =>
      (index % 2 === 0 ? everything : apiAlone).ask('/v1/nfse', {
        body,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      }),
    accepted: async (amount) =>
      (await service.accepted()).flatMap(({ id, amountInCents }) => (amountInCents === amount ? [id] : [])),
  }));

  it('and killed with one of them, leave one invoice per key to whoever repeats them at the other', async () => {
    const amounts = Array.from({ length: CROWD }, (_, index) => 30_000 + index);
    const post = async (at: ServiceProcess, amount: number): Promise<PostAnswer> => {
      const body = { amount_in_cents: amount, description: 'Interrompida' };
      return await postAnswerOf(await at.ask('/v1/nfse', { body, idempotencyKey: `killed-${amount}` }));
    };
    const promised = new Map<number, string | undefined>();
    const left = amounts.values();
    await Promise.all(
      Array.from({ length: IN_HAND }, async () => {
        for (const amount of left) {
          const answer = await post(doomed, amount).catch(() => undefined);
          // A busy machine may turn one away, which is then repeated below.
          if (answer === undefined || answer.status === 503) continue;
          promised.set(amount, answer.body.id);
          if (promised.size === HEARD_BEFORE_DEATH) await doomed.kill();
        }
      }),
    );
    expect(promised.size).toBeGreaterThanOrEqual(HEARD_BEFORE_DEATH);
    expect(promised.size, 'the process died when all was done').toBeLessThanOrEqual(HEARD_BEFORE_DEATH + IN_HAND);

    const ids = new Map<number, string | undefined>();
    await waitFor('the leases to end', LEASE_WITHIN_MS, async () => {
      const open = amounts.filter((amount) => !ids.has(amount));
      await Promise.all(
        open.map(async (amount) => {
          const { status, body } = await post(everything, amount);
          if (status === 503 || body.error?.code === 'idempotency_key_in_use') return;
          expect(status, JSON.stringify(body)).toBe(202);
          ids.set(amount, body.id);
        }),
      );
      return ids.size === CROWD ? true : undefined;
    });
    for (const [amount, id] of promised) expect(ids.get(amount)).toBe(id);
    const accepted = (await service.accepted()).filter(({ amountInCents }) => ids.has(amountInCents));
    expect(accepted.map(({ id }) => id).sort()).toEqual([...ids.values()].sort());
  });

  it('leave one note in the ledger of the authorizer for each invoice, and none besides', async () => {
    const accepted = await service.accepted();
    expect(accepted.length).toBeGreaterThan(CROWD);
    const notes = await eventually(
      () => readLedger(everything.controlUrl),
      ({ length }) => length >= accepted.length,
      ISSUED_WITHIN_MS,
    );
    const seen = await Promise.all(
      accepted.map(({ id }) => apiAlone.client.pollUntil(id, ISSUED_WITHIN_MS, ({ status }) => status === 'issued')),
    );
    const byKey = (all: readonly { access_key?: string; amount_in_cents: number }[]) =>
      all.map(({ access_key, amount_in_cents }) => `${access_key}/${amount_in_cents}`).sort();
    expect(byKey(notes)).toEqual(byKey(seen));
  });
});
