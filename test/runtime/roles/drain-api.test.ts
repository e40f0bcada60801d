import { afterAll, beforeAll, expect, it } from 'vitest';
import { publicInvoiceId } from '../../../src/domain/common/ids.js';
import { createCarefulClient, waitFor } from '../../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../../support/harness/crash.js';
import { type Member, startRoles } from '../../support/harness/members.js';
import { createPoster, type Posted } from '../../support/harness/poster.js';
import { type ExternalSimulator, startExternalSimulator } from '../../support/harness/simulator-process.js';
import { type NatsServer, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';
import { describeWithPostgres } from '../../support/postgres.js';

const ACCEPTED_BEFORE = 40;
const WITHIN_MS = 120_000;
/** Of the request whose body arrives after the process was told to stop. */
const LATE_AMOUNT = 9_999;
/** A connection that was refused, that ended, or that had ended before the request was written. */
const UNTAKEN = /^(?:ECONNREFUSED|ECONNRESET|EPIPE)$/;

describeWith('natsServer', 'a process that is told to stop', () => {
  describeWithPostgres('while clients ask', () => {
    let simulator: ExternalSimulator;
    let nats: NatsServer;
    let harness: CrashHarness;
    let env: Readonly<Record<string, string>>;
    const members: Member[] = [];
    beforeAll(async () => {
      [simulator, nats] = await Promise.all([startExternalSimulator(), startNats()]);
      harness = await openCrashHarness(simulator, '910');
      env = { ...harness.env, NATS_URL: nats.url };
    });
    afterAll(async () => {
      await Promise.all(members.map(({ program }) => program.kill()));
      await Promise.all([harness?.close(), nats?.close(), simulator?.close()]);
    });

    const start = async (roles: string, more: Readonly<Record<string, string>> = {}): Promise<Member> => {
      const member = await startRoles(roles, { ...env, ...more });
      members.push(member);
      return member;
    };

    it('an api with STOP_DELAY_S tells balancers before its port closes, and answers meanwhile', async () => {
      const leaving = await start('api', { STOP_DELAY_S: '15' });
      leaving.program.signal('SIGTERM');
      await expect.poll(async () => (await fetch(`${leaving.opsUrl}/health/serving`)).status).toBe(503);
      const headers = { authorization: `Bearer ${harness.key}` };
      const { status, headers: answered } = await fetch(`${leaving.origin}/v1/activities`, { headers });
      expect([status, answered.get('connection')]).toEqual([200, 'close']);
      expect(await leaving.program.ended, leaving.program.complaint()).toEqual({ code: 0, signal: null });
    });

    it('an api answers what it has taken, takes nothing that it does not answer, and ends with 0', async () => {
      const [leaving, worker] = await Promise.all([start('api'), start('projector,relay,issuer,sweeper')]);
      const outcomes = new Map<number, Posted>();
      const accepted = () => [...outcomes].filter(([, posted]) => 'status' in posted && posted.status === 202);
      let amount = 10_000;
      const clients = Array.from({ length: 10 }, async (_, index) => {
        const poster = createPoster(leaving.origin, harness.key, index % 2 === 0 ? 'kept' : 'fresh');
        for (let posted: Posted | undefined; posted === undefined || 'status' in posted; ) {
          amount += 1;
          const own = amount;
          posted = await poster.post({ amount_in_cents: own, description: 'Serviço' }, `drain-${own}`);
          outcomes.set(own, posted);
        }
        poster.close();
      });
      await waitFor('load', WITHIN_MS, async () => (accepted().length >= ACCEPTED_BEFORE ? true : undefined));
      const late = createPoster(leaving.origin, harness.key, 'kept');
      const begun = await late.begin({ amount_in_cents: LATE_AMOUNT, description: 'Serviço' }, 'drain-late');
      leaving.program.signal('SIGTERM');
      await Promise.all(clients);
      outcomes.set(LATE_AMOUNT, await begun.finish());
      late.close();
      expect(outcomes.get(LATE_AMOUNT)).toMatchObject({ status: 202, connection: 'close' });
      expect(await leaving.program.ended, leaving.program.complaint()).toEqual({ code: 0, signal: null });

      const answered = accepted();
      const others = [...outcomes.values()].filter((posted) => !('status' in posted && posted.status === 202));
      expect(others.filter((posted) => !('fault' in posted && UNTAKEN.test(posted.fault)))).toEqual([]);
      const inLog = (await harness.engines.log.readAll({ prefixes: ['nfse'], after: null, limit: 10_000 })).filter(
        ({ type }) => type === 'InvoiceAccepted',
      );
      expect(inLog.map(({ data }) => [data.amountInCents, publicInvoiceId(String(data.invoiceId))]).sort()).toEqual(
        answered.map(([own, posted]) => [own, 'id' in posted ? posted.id : undefined]).sort(),
      );

      const next = await start('api');
      const client = createCarefulClient(next.origin, harness.key);
      for (const [, posted] of answered) {
        const id = ('id' in posted ? posted.id : undefined) ?? '';
        await client.pollUntil(id, WITHIN_MS, ({ status }) => status === 'issued');
      }
      const notes = await simulator.notes();
      expect(notes.map(({ amount_in_cents }) => amount_in_cents).sort()).toEqual(answered.map(([own]) => own).sort());
      for (const { program } of [next, worker]) {
        expect(await program.stop(), program.complaint()).toEqual({ code: 0, signal: null });
      }
    });
  });
});
