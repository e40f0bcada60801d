import { StorageType } from 'nats';
import { afterEach, expect, it } from 'vitest';
import { roles } from '../../src/runtime/config/config.js';
import { eventually } from '../support/eventually.js';
import { type RunningClock, runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { type NatsServer, type NatsServerOptions, startNats } from '../support/nats.js';
import { describeWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';

type Body = { id: string; status: string };

/** More than the issuer sends at once, so that most of them wait in the queue. */
const INVOICES = 80;
const ISSUED_WITHIN_MS = 120_000;
/** Longer than the pause after which the sweeper takes work for forgotten. */
const QUIET_S = 31;

describeWith('natsServer', 'a service that loses its queue', () => {
  describeWithPostgres('issues each invoice once all the same', () => {
    let nats: NatsServer;
    let running: RunningService;
    let clock: RunningClock;
    const start = async (options: NatsServerOptions = {}, timeoutS = 30): Promise<void> => {
      clock = runningClock();
      nats = await startNats(options);
      await nats.start();
      const env = { ...PROMPT, AUTHORIZER_TIMEOUT_S: String(timeoutS) };
      running = await startRunningService({ ...env, NATS_URL: nats.url }, roles, clock);
    };
    afterEach(async () => {
      await running.close();
      await nats.close();
    });

    const call = (path: string, body?: object) =>
      running.call<Body>('live', body === undefined ? 'GET' : 'POST', path, body);

    let amount = 10_000;
    const accept = async (count: number): Promise<readonly string[]> => {
      const answers = await Promise.all(
        Array.from({ length: count }, () => {
          amount += 1;
          return call('/v1/nfse', { amount_in_cents: amount, description: 'Serviço' });
        }),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
      return answers.map(({ body }) => body.id);
    };

    const statuses = (ids: readonly string[]): Promise<readonly string[]> =>
      Promise.all(ids.map(async (id) => (await call(`/v1/nfse/${id}`)).body.status));

    const expectEachIssuedOnce = async (ids: readonly string[]): Promise<void> => {
      await eventually(
        () => statuses(ids),
        (all) => all.every((status) => status === 'issued'),
        ISSUED_WITHIN_MS,
      );
      expect(await running.control('GET', '/_control/ledger')).toHaveLength(ids.length);
    };

    const beSlow = (times: number, delayMs: number): Promise<unknown> =>
      running.control('POST', '/_control/faults', { on: 'issue', kind: 'slow', times, delay_ms: delayMs });

    const readiness = async (): Promise<{ ready: boolean; reasons: readonly string[] }> =>
      (await (await fetch(`${running.service.opsUrl}/health/ready`)).json()) as {
        ready: boolean;
        reasons: readonly string[];
      };

    it('when the server is killed and comes back', async () => {
      await start();
      await beSlow(INVOICES, 1_000);
      const before = await accept(INVOICES / 2);
      await nats.kill();
      const during = await accept(INVOICES / 2);
      await eventually(readiness, ({ reasons }) => reasons.some((reason) => reason.startsWith('queue: ')));
      await nats.start();
      await expectEachIssuedOnce([...before, ...during]);
      await eventually(readiness, ({ ready }) => ready);
    });

    it('when its storage is wiped, because the sweeper puts quiet work back', async () => {
      // No deadline of a send passes while the clock moves, because started work is forgotten later than queued work.
      await start({}, 2 * QUIET_S);
      // Half a minute of work is left when the first is done: most of it is still in the queue when that is wiped.
      const many = 3 * INVOICES;
      await beSlow(many, 5_000);
      const ids = await accept(many);
      await eventually(
        () => statuses(ids),
        (all) => all.includes('issued'),
      );
      await nats.kill();
      await nats.wipe();
      await nats.start();
      await eventually(readiness, ({ ready }) => ready);
      expect(await statuses(ids)).toContain('queued');
      await running.control('DELETE', '/_control/faults');
      clock.pass(QUIET_S);
      await expectEachIssuedOnce(ids);
    });

    it('when its store is full, as soon as there is room', async () => {
      await start({ maxStore: 60_000 });
      const admin = await nats.admin();
      const { streams } = await admin.jetstreamManager();
      await streams.add({ name: 'others', subjects: ['others'], storage: StorageType.File });
      const fill = async (): Promise<void> => {
        for (let sent = 0; sent < 1_000; sent += 1) await admin.jetstream().publish('others', 'x'.repeat(500));
      };
      await expect(fill()).rejects.toThrow();
      const ids = await accept(5);
      clock.pass(QUIET_S);
      await streams.delete('others');
      await expectEachIssuedOnce(ids);
    });
  });
});
