import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Role, roles } from '../../src/runtime/config.js';
import { createCarefulClient, type SeenInvoice, waitFor } from '../support/crash-client.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/crash-simulator.js';
import { openStage, type Stage } from '../support/crash-stage.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { describeWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { type Fleet, startFleet } from './fleet.js';

/** CRASH_FULL=1: at least 500 invoices and 30 kills, every role at least 3 times. */
const SIZE = process.env.CRASH_FULL === '1' ? { invoices: 500, rounds: 6 } : { invoices: 60, rounds: 1 };
const CLIENTS = 8;
const ANSWER_WITHIN_MS = 60_000;
const ENDED_WITHIN_MS = 180_000;
const PATIENCE_MS = 900_000;
const SERIES = '900';

describeWith('natsServer', 'two processes of each role on PostgreSQL and NATS', () => {
  describeWithPostgres('killed one after another under load', () => {
    let simulator: ExternalSimulator;
    let nats: NatsServer;
    let stage: Stage;
    let fleet: Fleet;
    beforeAll(async () => {
      [simulator, nats] = await Promise.all([startExternalSimulator(), startNats()]);
      await nats.start();
      stage = await openStage(simulator, SERIES);
      fleet = await startFleet({ ...stage.env, NATS_URL: nats.url });
    }, PATIENCE_MS);
    afterAll(async () => {
      await fleet?.close();
      await Promise.all([stage?.close(), nats?.close(), simulator?.close()]);
    });

    /** Any api that runs; which one changes from call to call, as behind a load balancer. */
    let turn = 0;
    const client = () => {
      const origins = fleet.origins();
      turn += 1;
      return createCarefulClient(origins[turn % origins.length] ?? 'http://127.0.0.1:1', stage.key);
    };

    const issueFor = (key: string, amountInCents: number): Promise<string> =>
      waitFor(`a 202 for ${key}`, ANSWER_WITHIN_MS, async () => {
        const body = { amount_in_cents: amountInCents, description: `Serviço ${key}` };
        const answer = await client()
          .issue(body, key)
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

    it(
      'lose no accepted invoice and issue none twice',
      async () => {
        const keys = Array.from({ length: SIZE.invoices }, (_, index) => `campaign-${index}`);
        const accepted = new Map<string, string>();
        const killed = keys.length / (SIZE.rounds * roles.length + 1);
        const todo = [...keys.entries()];
        const load = Promise.all(
          Array.from({ length: CLIENTS }, async () => {
            for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
              const [index, key] = next;
              accepted.set(key, await issueFor(key, 10_000 + index));
            }
          }),
        );
        const schedule: readonly Role[] = Array.from({ length: SIZE.rounds }, () => roles).flat();
        for (const [index, role] of schedule.entries()) {
          await waitFor('progress before the next kill', ENDED_WITHIN_MS, async () =>
            accepted.size >= Math.min(keys.length - 1, killed * (index + 1)) ? true : undefined,
          );
          await fleet.replace(role);
        }
        await load;
        const ends = await Promise.all([...accepted.values()].map(endOf));
        expect(new Set(accepted.values()).size).toBe(keys.length);
        expect(ends.filter(({ status }) => status !== 'issued')).toEqual([]);
        const notes = await simulator.notes();
        expect(notes.map(({ access_key }) => access_key).sort()).toEqual(
          ends.map(({ access_key }) => access_key).sort(),
        );
        for (const [index, key] of keys.entries()) expect(await issueFor(key, 10_000 + index)).toBe(accepted.get(key));
        expect(Object.values(fleet.kills).every((count) => count >= SIZE.rounds)).toBe(true);
      },
      PATIENCE_MS,
    );
  });
});
