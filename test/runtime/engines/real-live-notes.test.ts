import { X509Certificate } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recentLiveNotes } from '../../../src/adapters/read-model-postgres/support-reads.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent, InvoiceEventOf } from '../../../src/domain/invoice/events.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { LiveNotesAreReal, refuseSimulatedLive } from '../../../src/runtime/engines/simulator-notes.js';
import { eventually } from '../../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';

type Body = { id: string; status: string };

type Authorized = InvoiceEventOf<'Authorized'>;

/** The store, with another event in place of every `Authorized` of the stream, or of all streams. */
const withAuthorized = (
  store: EventStore,
  other: (event: Authorized) => InvoiceEvent,
  only?: StreamName,
): EventStore => ({
  ...store,
  load: (async (stream: StreamName) => {
    const loaded = await store.load<InvoiceEvent>(stream);
    if (only !== undefined && stream !== only) return loaded;
    const events = loaded.events.map((event) => (event.type === 'Authorized' ? { ...event, ...other(event) } : event));
    return { ...loaded, events };
  }) as EventStore['load'],
});

/** The store, with another document in place of every note. */
const withNotes = (store: EventStore, other: (gzip: string) => string, only?: StreamName): EventStore =>
  withAuthorized(
    store,
    ({ type, data }) => ({ type, data: { ...data, nfseXmlGzip: other(data.nfseXmlGzip ?? '') } }),
    only,
  );

/** As a note is recorded that does not fit into an event. */
const withoutBytes = ({
  type,
  data: { nfseXmlGzip: _bytes, nfseSha256: _hash, ...data },
}: Authorized): InvoiceEvent => ({
  type,
  data,
});

/** As support settles an invoice by its note. */
const settled = ({ data: { attempt: _attempt, evidence: _evidence, ...note } }: Authorized): InvoiceEvent => ({
  type: 'IndeterminateResolved',
  data: { ...note, as: 'issued', evidence: 'chamado 1' },
});

const DAMAGED = 'bm8gZ3ppcA==';

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
    const known = await recentLiveNotes(db);
    const request = { amount_in_cents: 12_345, description: `Nota de produção ${known.length}` };
    const { id } = (await running.call<Body>('live', 'POST', '/v1/nfse', request)).body;
    await eventually(
      () => running.call<Body>('live', 'GET', `/v1/nfse/${id}`),
      ({ body }) => body.status === 'issued',
    );
    await eventually(
      () => recentLiveNotes(db),
      (notes) => notes.length > known.length,
    );
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
      for (const damaged of [DAMAGED, gzipSync('<X509Certificate>AAAA</X509Certificate>').toString('base64')])
        await refuseSimulatedLive(
          db,
          withNotes(store, () => damaged),
        );
    } finally {
      await db.end();
    }
  });

  it('is refused by a note that support settled, by a note too large for an event, and by the next older note where the newest cannot be read', async () => {
    const db = pool();
    try {
      const { store } = running.service.engines;
      await issue(db);
      await issue(db);
      const [newest] = await recentLiveNotes(db);
      const refusal = (of: EventStore) => refuseSimulatedLive(db, of).catch((error: unknown) => error);
      expect(await refusal(withAuthorized(store, settled))).toBeUndefined();
      expect(await refusal(withAuthorized(signedElsewhere(store), settled))).toBeInstanceOf(LiveNotesAreReal);
      for (const of of [store, signedElsewhere(store)])
        expect(await refusal(withAuthorized(of, withoutBytes, newest))).toBeInstanceOf(LiveNotesAreReal);
      const unreadable = (of: EventStore) => withNotes(of, () => DAMAGED, newest);
      expect(await refusal(unreadable(signedElsewhere(store)))).toBeInstanceOf(LiveNotesAreReal);
      expect(await refusal(unreadable(store))).toBeUndefined();
    } finally {
      await db.end();
    }
  });
});
