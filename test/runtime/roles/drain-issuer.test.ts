import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RecordedEvent } from '../../../src/ports/event-log.js';
import { createCarefulClient, waitFor } from '../../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../../support/harness/crash.js';
import { type Member, startRoles } from '../../support/harness/members.js';
import { type ExternalSimulator, startExternalSimulator } from '../../support/harness/simulator-process.js';
import { type NatsServer, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';
import { describeWithPostgres } from '../../support/postgres.js';

const WITHIN_MS = 120_000;
const SIGNAL_EVERY_MS = 200;

describeWith('natsServer', 'a process with a send under way', () => {
  describeWithPostgres('that is told to stop', () => {
    let simulator: ExternalSimulator;
    let nats: NatsServer;
    let harness: CrashHarness;
    const members: Member[] = [];
    beforeAll(async () => {
      [simulator, nats] = await Promise.all([startExternalSimulator(), startNats()]);
      harness = await openCrashHarness(simulator, '911');
    });
    afterEach(async () => {
      await Promise.all(members.splice(0).map(({ program }) => program.kill()));
    });
    afterAll(async () => {
      await Promise.all([harness?.close(), nats?.close(), simulator?.close()]);
    });

    const start = async (roles: string, env: Readonly<Record<string, string>>): Promise<Member> => {
      const member = await startRoles(roles, { ...harness.env, ...env });
      members.push(member);
      return member;
    };

    const issue = async (api: Member, amountInCents: number): Promise<string> => {
      const body = { amount_in_cents: amountInCents, description: 'Serviço' };
      const answer = await createCarefulClient(api.origin, harness.key).issue(body, `send-${amountInCents}`);
      expect(answer.status).toBe(202);
      return answer.body.id ?? '';
    };

    const ended = (api: Member, id: string) =>
      createCarefulClient(api.origin, harness.key).pollUntil(id, WITHIN_MS, ({ status }) => status === 'issued');

    const eventsOf = async (id: string): Promise<readonly RecordedEvent[]> =>
      (await harness.engines.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 })).filter(({ stream }) =>
        stream.endsWith(id.replace('nfse_', '')),
      );

    /** The authorizer has the note, and keeps its answer for a while. */
    const isSent = (amountInCents: number) =>
      waitFor('the send', WITHIN_MS, async () =>
        (await simulator.notes(amountInCents)).length > 0 ? true : undefined,
      );

    it('ends it, records what it was answered, and ends with 0', async () => {
      const env = { NATS_URL: nats.url, AUTHORIZER_TIMEOUT_S: '20' };
      const [api, issuer] = await Promise.all([start('api,relay,projector', env), start('issuer', env)]);
      await simulator.order({ on: 'issue', kind: 'slow', delay_ms: 8_000 }, 20_001);
      const id = await issue(api, 20_001);
      await isSent(20_001);
      expect((await eventsOf(id)).map(({ type }) => type)).toEqual(['InvoiceAccepted', 'IssuanceAttempted']);
      expect(await issuer.program.stop(), issuer.program.complaint()).toEqual({ code: 0, signal: null });
      // No other process could have done it, because this was the only issuer.
      expect((await eventsOf(id)).slice(2)).toMatchObject([{ type: 'Authorized', data: { evidence: 'response' } }]);
      expect((await ended(api, id)).access_key).toBe((await simulator.notes(20_001))[0]?.access_key);
    });

    it('and gets a second signal: it ends at once with 1 and says so; the next process looks the send up and sends nothing', async () => {
      // One process with an in-memory queue: the next process begins with all open work and waits for no lease.
      const first = await start('all', { AUTHORIZER_TIMEOUT_S: '10' });
      await simulator.order({ on: 'issue', kind: 'slow', delay_ms: 60_000 }, 20_002);
      const id = await issue(first, 20_002);
      await isSent(20_002);
      for (let over = false; !over; ) {
        first.program.signal('SIGTERM');
        over = await Promise.race([first.program.ended.then(() => true), pause(SIGNAL_EVERY_MS, false)]);
      }
      expect(await first.program.ended).toEqual({ code: 1, signal: null });
      expect(first.program.output().stdout).toContain('"msg":"forced to stop"');
      const next = await start('all', {});
      await ended(next, id);
      expect((await eventsOf(id)).map(({ type, data }) => [type, data.evidence])).toEqual([
        ['InvoiceAccepted', undefined],
        ['IssuanceAttempted', undefined],
        ['Authorized', 'lookup'],
      ]);
      expect(await simulator.notes(20_002)).toHaveLength(1);
      expect(await next.program.stop()).toEqual({ code: 0, signal: null });
    });
  });
});
