import { X509Certificate } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recentLiveNote } from '../../../src/adapters/read-model-postgres/support-reads.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { LiveNotesAreReal, refuseSimulatedLive } from '../../../src/runtime/engines/real-live-notes.js';
import { eventually } from '../../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';

type Body = { id: string; status: string };

/** The store, with another document in place of every note. */
const withNotes = (store: EventStore, other: (gzip: string) => string): EventStore => ({
  ...store,
  load: (async (stream, options) => {
    const loaded = await store.load(stream, options);
    const events = loaded.events.map((event) =>
      event.type === 'Authorized'
        ? { ...event, data: { ...event.data, nfseXmlGzip: other(event.data.nfseXmlGzip ?? '') } }
        : event,
    );
    return { ...loaded, events };
  }) as EventStore['load'],
});

/** The store, with every note signed by an authority that is no simulator's. */
const signedElsewhere = (store: EventStore): EventStore => {
  const { certificatePem } = issueCertificate({ subjectName: 'SEFIN', validDays: 1, now: systemClock.now() });
  const base64 = new X509Certificate(certificatePem).raw.toString('base64');
  const resigned = (gzip: string): string => {
    const xml = gunzipSync(Buffer.from(gzip, 'base64')).toString('utf8');
    const last = xml.lastIndexOf('<X509Certificate>');
    const rest = xml.slice(last).replace(/>[^<]+</, `>${base64}<`);
    return gzipSync(xml.slice(0, last) + rest).toString('base64');
  };
  return withNotes(store, resigned);
};

describeWithPostgres('live mode served by a simulator', () => {
  let running: RunningService;
  const pool = () =>
    openPool({ connectionString: running.config.databaseUrl ?? '', max: 1, applicationName: 'real-live-notes' });
  beforeAll(async () => {
    running = await startRunningService(PROMPT);
  });
  afterAll(() => running.close());

  const issue = async (db: pg.Pool): Promise<void> => {
    const request = { amount_in_cents: 12_345, description: 'Nota de produção' };
    const { id } = (await running.call<Body>('live', 'POST', '/v1/nfse', request)).body;
    await eventually(
      () => running.call<Body>('live', 'GET', `/v1/nfse/${id}`),
      ({ body }) => body.status === 'issued',
    );
    await eventually(() => recentLiveNote(db));
  };

  it('is refused where a live note was signed by anybody but a simulator, and only there', async () => {
    const db = pool();
    try {
      const { store } = running.service.engines;
      await refuseSimulatedLive(db, signedElsewhere(store));
      await issue(db);
      await refuseSimulatedLive(db, store);
      const fault = await refuseSimulatedLive(db, signedElsewhere(store)).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(LiveNotesAreReal);
      expect(startupFault(fault)).toMatchObject({ exit: 2, line: expect.stringContaining('set AUTHORIZER_LIVE_URL') });
      for (const damaged of ['bm8gZ3ppcA==', gzipSync('<X509Certificate>AAAA</X509Certificate>').toString('base64')])
        await refuseSimulatedLive(
          db,
          withNotes(store, () => damaged),
        );
    } finally {
      await db.end();
    }
  });
});
