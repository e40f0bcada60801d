import type { Hono } from 'hono';
import { appendAudit } from '../../app/audit/audit-trail.js';
import { parkedIn, retryParked } from '../../app/operator/support/waiting.js';
import { type AuditEvent, supportStream } from '../../domain/audit/events.js';
import { addSeconds, isBefore } from '../../domain/common/time.js';
import { expiryWarning } from '../../domain/company/certificate-expiry.js';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import type { ConsoleDeps } from '../deps.js';
import { actingOperator, type ConsoleContext, type ConsoleEnv } from '../guard.js';
import { type CertificateLine, certificatesPage } from '../pages/certificates.js';
import { type Notice, nameNeeded, type PageContext, ROOT } from '../pages/layout.js';
import { isRebuilding, MOST_COUNTED, overviewPage, parkedPage, projectionsPage } from '../pages/work.js';

const noticesOf = ({ say }: PageContext) =>
  ({
    name: { tone: 'bad', text: nameNeeded({ say }) },
    retried: {
      tone: 'good',
      text: say('Será tentado de novo em segundos.', 'It will be tried again within seconds.'),
    },
    gone: { tone: 'wait', text: say('Já não está parado.', 'It is no longer parked.') },
    begun: { tone: 'good', text: say('A reconstrução começou.', 'The rebuild has begun.') },
    busy: {
      tone: 'wait',
      text: say('Uma reconstrução já está em curso.', 'A rebuild of it is running already.'),
    },
  }) as const satisfies Record<string, Notice>;

/** Pages of open work, certificates, parked work items and projections, with retries and rebuilds. */
export const workRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  const { clock, queue, rebuilds, store, supportReads } = deps;
  const showParked = async (c: ConsoleContext, status: 200 | 400 | 409, notice?: Notice) => {
    const parked = await parkedIn(queue);
    return c.html(parkedPage(c.get('page'), parked, notice), parked.unknown === undefined ? status : 503);
  };
  const lines = async () => (await deps.projections()).map((line) => ({ ...line, run: rebuilds.of(line.name) }));

  app.get(ROOT, async (c) => {
    const [health, waiting, stopped, parkedItems, certificates, refused, notices] = await Promise.all([
      deps.health(),
      supportReads.waitingCounts(MOST_COUNTED + 1),
      deps.stoppedSeries(),
      parkedIn(queue),
      certificateLines(deps),
      deps.refusedCertificates(),
      deps.notices(),
    ]);
    const ending = certificates.filter(
      ({ notAfter, enabled }) =>
        enabled && notAfter !== undefined && expiryWarning(notAfter, clock.now()) !== undefined,
    );
    const counts = {
      indeterminate: waiting.indeterminate,
      cancellations: waiting.failedCancellations,
      parked: parkedItems,
      certificates: ending.length,
    };
    return c.html(overviewPage(c.get('page'), { ...health, ...counts, refused, stopped, notices }));
  });

  app.get(`${ROOT}/certificates`, async (c) =>
    c.html(
      certificatesPage(c.get('page'), {
        lines: await certificateLines(deps),
        refused: await deps.refusedCertificates(),
        typed: (c.req.query('cnpj') ?? '').trim(),
      }),
    ),
  );

  app.get(`${ROOT}/parked`, async (c) => {
    // Any link may carry this parameter.
    const isNew = c.req.query('retried') === '1' && (await wasJustRetried(deps));
    return await showParked(c, 200, isNew ? noticesOf(c.get('page')).retried : undefined);
  });

  app.post(`${ROOT}/parked/retry`, async (c) => {
    const operator = actingOperator(c);
    if (operator === undefined) return await showParked(c, 400, noticesOf(c.get('page')).name);
    const wanted = c.get('field')('stream');
    let retried = 0;
    try {
      const streams =
        wanted === 'all' ? [...new Set((await queue.parked()).work.map(({ stream }) => stream))] : [wanted];
      for (const stream of streams)
        if (await retryParked(stream, queue, { store, clock, actor: `support:${operator}` })) retried += 1;
    } catch (error) {
      if (!(error instanceof WorkQueueUnavailable)) throw error;
      return c.html(parkedPage(c.get('page'), { work: [], count: 0, unknown: error.message }), 503);
    }
    if (retried === 0) return await showParked(c, 409, noticesOf(c.get('page')).gone);
    return c.redirect(`${ROOT}/parked?retried=1`, 303);
  });

  app.get(`${ROOT}/projections`, async (c) => {
    const rows = await lines();
    // The page reloads itself until the rebuild ends, and its address says all the time that a rebuild has begun.
    const isNew = c.req.query('begun') === '1' && rows.some(isRebuilding);
    return c.html(projectionsPage(c.get('page'), rows, isNew ? noticesOf(c.get('page')).begun : undefined));
  });

  app.post(`${ROOT}/projections/rebuild`, async (c) => {
    const operator = actingOperator(c);
    if (operator === undefined)
      return c.html(projectionsPage(c.get('page'), await lines(), noticesOf(c.get('page')).name), 400);
    const projection = (await lines()).find(({ name }) => name === c.get('field')('projection'))?.name;
    if (projection === undefined) return c.notFound();
    if (rebuilds.of(projection)?.state === 'running')
      return c.html(projectionsPage(c.get('page'), await lines(), noticesOf(c.get('page')).busy), 409);
    if (await rebuilds.refuses(projection)) return c.html(projectionsPage(c.get('page'), await lines()), 409);
    await appendAudit('ProjectionRebuildOrdered', { projection }, { store, clock, actor: `support:${operator}` });
    rebuilds.begin(projection);
    return c.redirect(`${ROOT}/projections?begun=1`, 303);
  });
};

const RETRY_SHOWN_SECONDS = 60;

/** Whether the last act of support is a retry of this minute. */
const wasJustRetried = async ({ store, clock }: ConsoleDeps): Promise<boolean> => {
  const { events } = await store.load<AuditEvent>(supportStream, { direction: 'backwards', limit: 1 });
  const [last] = events;
  return last?.type === 'ParkedWorkRetried' && isBefore(clock.now(), addSeconds(last.data.at, RETRY_SHOWN_SECONDS));
};

const certificateLines = async ({ readModel }: ConsoleDeps): Promise<readonly CertificateLine[]> =>
  (await readModel.companies()).map(({ registration, enabled, certificate }) => ({
    cnpj: registration.cnpj,
    enabled,
    notAfter: certificate?.notAfter,
    isUnusable: certificate?.unusable !== undefined,
  }));
