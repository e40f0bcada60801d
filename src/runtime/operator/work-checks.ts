import { deadlines } from '../../../projections/deadlines.js';
import { NatsTopologyMismatch } from '../../adapters/queue-nats/topology-mismatch.js';
import { createMonitoringReads, type OpenWork } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { createSupportReads } from '../../adapters/read-model-postgres/support-reads.js';
import { isPlaceOf } from '../../app/event-store/walk-log.js';
import { stoppedSeries, stoppedTexts } from '../../app/operator/support/stopped-series.js';
import { createLag, LATE_SECONDS } from '../../app/read/lag.js';
import { type Check, type Session, unlessBehind } from '../../cli/session.js';
import { invoicePrefix, parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { ageText } from '../../lib/age-text.js';
import { counted } from '../../lib/counted.js';
import type { Clock } from '../../ports/clock.js';
import type { SupportRow } from '../../ports/support-reads.js';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import { readCheckpoint } from '../../projector/checkpoints.js';
import type { Config } from '../config/config.js';
import type { Engines } from '../engines/engines.js';
import { RECONCILE } from '../engines/pause-text.js';
import { QUEUE_FAULTS } from '../engines/work-queue.js';

type Parts = { engines: Engines; config: Config; clock: Clock; queue: Session['queue'] };

/** The checks of doctor on the work itself: what waits, what is stuck, what needs a person. */
export const workChecks = async (parts: Parts, behind: readonly string[]): Promise<readonly Check[]> => {
  return [
    await queueCheck(parts),
    ...(parts.config.natsUrl === undefined ? [] : [await relayCheck(parts)]),
    ...(await unlessBehind(behind, 'open work', ['deadlines'], async () => [await openWorkCheck(parts)])),
    ...(await unlessBehind(behind, 'indeterminate', ['invoices'], async () => [await indeterminateCheck(parts)])),
    ...(await unlessBehind(behind, 'cancellations', ['invoices'], async () => [await cancellationsCheck(parts)])),
    ...(await unlessBehind(behind, 'numbers', ['companies'], () => conflictChecks(parts))),
  ];
};

/** A queue that cannot be used is a finding: the other checks tell an operator what else is wrong. */
export const queueCheck = async ({ queue }: Pick<Parts, 'queue'>): Promise<Check> => {
  const state = await queueState(queue);
  if ('fault' in state) return { name: 'queue', ok: false, detail: state.fault, cure: state.cure };
  const { parked, depth } = state;
  const detail = [
    depth === undefined ? "inside the service's process" : `${counted(depth, 'work item')} waiting or being handled`,
    `${counted(parked, 'work item')} parked`,
  ].join(', ');
  const cure = 'nfse parked list, then nfse parked retry --all';
  return { name: 'queue', ok: parked === 0, detail, cure: parked === 0 ? undefined : cure };
};

const queueState = async (queue: Session['queue']) => {
  try {
    const counts = { parked: (await queue.parked()).count, depth: await queue.depth() };
    const missing = await queue.missingRight?.();
    return missing === undefined ? counts : { fault: `NATS keeps work away: ${missing}`, cure: RIGHTS };
  } catch (error) {
    if (error instanceof NatsTopologyMismatch) return { fault: error.what, cure: error.cure };
    if (error instanceof WorkQueueUnavailable) {
      const { what, cure } = QUEUE_FAULTS[error.fault];
      return { fault: `${what} (${error.code})`, cure };
    }
    throw error;
  }
};

const RIGHTS = 'give the user in NATS_URL the rights that docs/operations/configuration.md lists under NATS';

/** How far the relay is behind the log. One whose work items NATS refuses is late, although NATS answers all else. */
export const relayCheck = async ({
  engines,
  clock,
}: Pick<Parts, 'clock'> & { engines: RelayEngines }): Promise<Check> => {
  const { guards, log, pool } = engines;
  const name = 'relay';
  const position = (await guards.relay.read(await log.identity())) ?? (await readCheckpoint(pool, deadlines));
  if (!(await isPlaceOf(log, await log.head(), position))) {
    return { name, ok: false, detail: 'its position is of events that the log does not have', cure: RECONCILE };
  }
  const lag = await createLag(log, clock)(Object.values(invoicePrefix), position);
  const ok = lag < LATE_SECONDS;
  const cure =
    'start a process with the role relay (nfse serve); where one runs, its log says why it is late: put_failed names what NATS refuses, as when its disk or a limit of the account is full';
  return { name, ok, detail: `${Math.round(lag)} s behind the log`, cure: ok ? undefined : cure };
};

type RelayEngines = Pick<Engines, 'log' | 'pool'> & { guards: Pick<Engines['guards'], 'relay'> };

/** Seconds after its limit at which a verdict counts as overdue. Sweeps take seconds, so an overdue verdict shows that no sweeper runs. */
const GRACE_SECONDS = 120;

const openWorkCheck = async ({ engines, config, clock }: Parts): Promise<Check> => {
  const rows = await createMonitoringReads(engines.pool).openWork();
  const ageOf = (row: OpenWork): number => openSeconds(row, clock.now());
  const stuck = rows.filter((row) => isStuck(row, clock.now(), config.limits));
  const texts = rows.map(
    (row) => `${row.count} ${stateOf(row)} in ${row.mode} mode (the oldest for ${ageText(ageOf(row))})`,
  );
  const detail = texts.length === 0 ? 'nothing is open' : texts.join(', ');
  if (stuck.length === 0) return { name: 'open work', ok: true, detail };
  const cure = 'start a process with the role sweeper and one with issuer (nfse serve), and read their logs';
  return { name: 'open work', ok: false, detail: `stuck: ${detail}`, cure };
};

/** Age of the oldest work of the row, in whole seconds. */
export const openSeconds = ({ oldest }: OpenWork, now: Instant): number =>
  Math.max(0, Math.round((epochMs(now) - epochMs(oldest)) / 1000));

/** Whether the verdict of the row is overdue. */
export const isStuck = (row: OpenWork, now: Instant, limits: Limits): boolean =>
  openSeconds(row, now) > longest(row, limits) + GRACE_SECONDS;

/** Attempts may begin until one limit after the first, and the verdict comes one limit after the last signal. */
const longest = ({ work, started }: OpenWork, limits: Limits): number => {
  if (work === 'cancel') return 2 * limits.cancellationSeconds;
  return started ? 2 * limits.processingSeconds : limits.queuedSeconds;
};

export const stateOf = ({ work, started }: OpenWork): string =>
  work === 'cancel' ? 'to be canceled' : started ? 'processing' : 'queued';

const SHOWN = 3;

const indeterminateCheck = async ({ engines }: Parts): Promise<Check> => {
  const { count, oldest } = await createSupportReads(engines.pool).indeterminate(SHOWN);
  if (count === 0) return { name: 'indeterminate', ok: true, detail: 'no invoice waits for support' };
  const detail = `${counted(count, 'invoice waits', 'invoices wait')} for support: ${idsOf(oldest, count)}`;
  const cure =
    'nfse invoice resolve ID --as issued --evidence TEXT (or --as failed); --as issued also gives an invoice the note with equal content that has its number, and an invoice whose number has a note with other content takes --as failed alone (nfse invoice waiting says which)';
  return { name: 'indeterminate', ok: false, detail, cure };
};

const idsOf = (shown: readonly SupportRow[], count: number): string => {
  const texts = shown.flatMap(({ stream }) => {
    const address = parseInvoiceStream(stream);
    return address === undefined ? [] : [`${publicInvoiceId(address.invoiceId)} (${address.mode})`];
  });
  return `${texts.join(', ')}${count > shown.length ? ', …' : ''}`;
};

/** A failed live cancellation waits until support has settled or closed it: the client can do nothing more (docs/operations/support.md). */
const cancellationsCheck = async ({ engines }: Parts): Promise<Check> => {
  const { count, oldest } = await createSupportReads(engines.pool).failedCancellations(SHOWN);
  const name = 'cancellations';
  if (count === 0) return { name, ok: true, detail: 'no failed live cancellation waits for support' };
  const detail = `${counted(count, 'failed live cancellation waits', 'failed live cancellations wait')} for support: ${idsOf(oldest, count)}`;
  return { name, ok: false, detail, cure: 'nfse invoice resolve ID --as canceled --evidence TEXT, or --as valid' };
};

const conflictChecks = async ({ engines: { readModel, store } }: Parts): Promise<readonly Check[]> => {
  const stopped = await stoppedSeries(await readModel.companies(), store);
  const checks = stopped.map((one) => {
    const { detail, command } = stoppedTexts(one);
    return { name: `numbers ${one.companyId} ${one.mode}`, ok: false, detail, cure: command };
  });
  return checks.length > 0 ? checks : [{ name: 'numbers', ok: true, detail: 'no series is stopped' }];
};
