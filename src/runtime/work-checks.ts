import { indeterminateInvoices } from '../adapters/read-model-postgres/support-watch.js';
import { createWatch, type OpenWork } from '../adapters/read-model-postgres/watch.js';
import { lastNumbers } from '../app/issuer/allocate-number.js';
import type { Check, Session } from '../cli/session.js';
import { counted } from '../cli/text.js';
import type { Limits } from '../domain/invoice/limits.js';
import { dpsStream, publicInvoiceId } from '../domain/shared/ids.js';
import { epochMs, type Instant } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';
import { modes } from './authorizers.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';

type Parts = { engines: Engines; config: Config; clock: Clock; queue: Session['queue'] };

/** What doctor says of the work itself: what waits, what hangs, what waits for a person. */
export const workChecks = async (parts: Parts): Promise<readonly Check[]> => [
  await queueCheck(parts),
  await openWorkCheck(parts),
  await indeterminateCheck(parts),
  ...(await conflictChecks(parts)),
];

const queueCheck = async ({ queue }: Parts): Promise<Check> => {
  const [parked, depth] = [await queue.parked(), await queue.depth()];
  const detail = [
    depth === undefined ? "inside the service's process" : `${counted(depth, 'tap')} waiting or being handled`,
    `${counted(parked.length, 'tap')} parked`,
  ].join(', ');
  const cure = 'nfse parked list, then nfse parked retry --all';
  return { name: 'queue', ok: parked.length === 0, detail, ...(parked.length === 0 ? {} : { cure }) };
};

/** Every verdict by time is given within one sweep of its limit; so long after it nobody sweeps. */
const GRACE_SECONDS = 120;

const openWorkCheck = async ({ engines, config, clock }: Parts): Promise<Check> => {
  const rows = await createWatch(engines.pool).openWork();
  const ageOf = (row: OpenWork): number => openSeconds(row, clock.now());
  const stuck = rows.filter((row) => isStuck(row, clock.now(), config.limits));
  const texts = rows.map(
    (row) => `${row.count} ${stateOf(row)} in ${row.mode} mode (the oldest for ${ageText(ageOf(row))})`,
  );
  const cure = 'start a process with the role sweeper and one with issuer (nfse serve), and read their logs';
  const detail = texts.length === 0 ? 'nothing is open' : texts.join(', ');
  return stuck.length === 0
    ? { name: 'open work', ok: true, detail }
    : { name: 'open work', ok: false, detail: `stuck: ${detail}`, cure };
};

/** Age of the oldest work of the row, in whole seconds. */
export const openSeconds = ({ oldest }: OpenWork, now: Instant): number =>
  Math.max(0, Math.round((epochMs(now) - epochMs(oldest)) / 1000));

/** Its verdict is overdue: nobody sweeps. */
export const isStuck = (row: OpenWork, now: Instant, limits: Limits): boolean =>
  openSeconds(row, now) > longest(row, limits) + GRACE_SECONDS;

/** Attempts may begin until one limit after the first, and the verdict comes one limit after the last signal. */
const longest = ({ work, started }: OpenWork, limits: Limits): number => {
  if (work === 'cancel') return 2 * limits.cancellationSeconds;
  return started ? 2 * limits.processingSeconds : limits.queuedSeconds;
};

export const stateOf = ({ work, started }: OpenWork): string =>
  work === 'cancel' ? 'to be canceled' : started ? 'processing' : 'queued';

const ageText = (seconds: number): string => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

const SHOWN = 3;

const indeterminateCheck = async ({ engines }: Parts): Promise<Check> => {
  const { count, oldest } = await indeterminateInvoices(engines.pool, SHOWN);
  if (count === 0) return { name: 'indeterminate', ok: true, detail: 'no invoice waits for support' };
  const ids = oldest.map(({ invoiceId, mode }) => `${publicInvoiceId(invoiceId)} (${mode})`).join(', ');
  const detail = `${counted(count, 'invoice waits', 'invoices wait')} for support: ${ids}${count > SHOWN ? ', …' : ''}`;
  return { name: 'indeterminate', ok: false, detail, cure: 'nfse invoice resolve ID --as issued --evidence TEXT' };
};

/** A series whose last word is a block sends nothing until an operator moves it (design section 6, 5). */
const conflictChecks = async ({ engines: { readModel, store } }: Parts): Promise<readonly Check[]> => {
  const blocked: Check[] = [];
  for (const company of await readModel.companies()) {
    if (company.kind !== 'company') continue;
    const { cnpj, dps } = company.registration;
    for (const mode of modes) {
      const { series, nextNumber } = dps[mode];
      const { numbers } = await lastNumbers(dpsStream(mode, cnpj, series), nextNumber, store);
      if (!numbers.blocked) continue;
      blocked.push({
        name: `numbers ${cnpj} ${mode}`,
        ok: false,
        detail: `series ${series} is stopped: a foreign note stands under one of its numbers`,
        cure: `nfse company put FILE.json with a dps.${mode}.next_number after every note of the series`,
      });
    }
  }
  return blocked.length > 0 ? blocked : [{ name: 'numbers', ok: true, detail: 'no series is stopped' }];
};
