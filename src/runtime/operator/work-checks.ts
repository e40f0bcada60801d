import { createMonitoringReads, type OpenWork } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { indeterminateInvoices, unconfirmedCancellations } from '../../adapters/read-model-postgres/support-reads.js';
import { lastNumbers } from '../../app/issuing/allocate-number.js';
import type { Check, Session } from '../../cli/session.js';
import { dpsStream, type Mode, publicInvoiceId } from '../../domain/common/ids.js';
import { addSeconds, epochMs, type Instant } from '../../domain/common/time.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { ageText } from '../../lib/age-text.js';
import { counted } from '../../lib/counted.js';
import type { Clock } from '../../ports/clock.js';
import { type Config, modes } from '../config/config.js';
import type { Engines } from '../engines/engines.js';

type Parts = { engines: Engines; config: Config; clock: Clock; queue: Session['queue'] };

/** The checks of doctor on the work itself: what waits, what is stuck, what needs a person. */
export const workChecks = async (parts: Parts): Promise<readonly Check[]> => [
  await queueCheck(parts),
  await openWorkCheck(parts),
  await indeterminateCheck(parts),
  await cancellationsCheck(parts),
  ...(await conflictChecks(parts)),
];

const queueCheck = async ({ queue }: Parts): Promise<Check> => {
  const [parked, depth] = [await queue.parked(), await queue.depth()];
  const detail = [
    depth === undefined ? "inside the service's process" : `${counted(depth, 'work item')} waiting or being handled`,
    `${counted(parked.length, 'work item')} parked`,
  ].join(', ');
  const cure = 'nfse parked list, then nfse parked retry --all';
  return { name: 'queue', ok: parked.length === 0, detail, cure: parked.length === 0 ? undefined : cure };
};

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
  const { count, oldest } = await indeterminateInvoices(engines.pool, SHOWN);
  if (count === 0) return { name: 'indeterminate', ok: true, detail: 'no invoice waits for support' };
  const detail = `${counted(count, 'invoice waits', 'invoices wait')} for support: ${idsOf(oldest, count)}`;
  return { name: 'indeterminate', ok: false, detail, cure: 'nfse invoice resolve ID --as issued --evidence TEXT' };
};

const idsOf = (shown: readonly { invoiceId: string; mode: Mode }[], count: number): string =>
  `${shown.map(({ invoiceId, mode }) => `${publicInvoiceId(invoiceId)} (${mode})`).join(', ')}${count > shown.length ? ', …' : ''}`;

/** Seconds for which a cancellation without confirmation is a fault: nothing is recorded when support finds the note still valid. */
const CANCELLATION_FRESH_SECONDS = 7 * 86_400;

const cancellationsCheck = async ({ engines, clock }: Parts): Promise<Check> => {
  const since = addSeconds(clock.now(), -CANCELLATION_FRESH_SECONDS);
  const { count, recent, newest } = await unconfirmedCancellations(engines.pool, since, SHOWN);
  const name = 'cancellations';
  const all = `${count} without confirmation in all`;
  if (recent === 0) return { name, ok: true, detail: `none of the last 7 days ended without confirmation, ${all}` };
  const detail = `${recent} of the last 7 days ended without confirmation, ${all}: ${idsOf(newest.slice(0, recent), recent)}`;
  return { name, ok: false, detail, cure: 'nfse invoice resolve ID --as canceled --evidence TEXT' };
};

/** A blocked series sends nothing until an operator moves it (docs/architecture.md#never-twice). */
const conflictChecks = async ({ engines: { readModel, store } }: Parts): Promise<readonly Check[]> => {
  const blocked: Check[] = [];
  for (const { registration } of await readModel.companies()) {
    const { cnpj, dps } = registration;
    for (const mode of modes) {
      const { series, nextNumber } = dps[mode];
      const numbers = await lastNumbers(dpsStream(mode, cnpj, series), nextNumber, store);
      if (!numbers.blocked) continue;
      blocked.push({
        name: `numbers ${cnpj} ${mode}`,
        ok: false,
        detail: `series ${series} is stopped: a note that is not ours has one of its numbers`,
        cure: `nfse company put FILE.json with a dps.${mode}.next_number after every note of the series`,
      });
    }
  }
  return blocked.length > 0 ? blocked : [{ name: 'numbers', ok: true, detail: 'no series is stopped' }];
};
