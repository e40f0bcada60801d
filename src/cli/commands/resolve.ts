import { setTimeout as pause } from 'node:timers/promises';
import { settleInvoice } from '../../app/settlement/settle-invoice.js';
import type { SettleAs, SettleResult } from '../../app/settlement/settlement.js';
import { findStream } from '../../app/support/find-stream.js';
import { isAccessKey } from '../../domain/shared/access-key.js';
import { parseInvoiceStream } from '../../domain/shared/ids.js';
import { epochMs, type Instant } from '../../domain/shared/time.js';
import { badUsage, type Command, done, type Outcome, refused, textFlag } from '../command.js';
import type { ProgressStream } from '../progress.js';

const ENDS: readonly SettleAs[] = ['issued', 'failed', 'canceled'];

/** Of an absence; a third look is never needed, so a clock that stands still ends the wait. */
const LOOKS = 3;

/** Until the instant is over by the session's clock; tests move the clock instead. */
export type WaitUntil = (at: Instant, now: Instant) => Promise<void>;

const waitUntil: WaitUntil = async (at, now) => {
  await pause(Math.max(0, epochMs(at) - epochMs(now)) + 50);
};

const resolve = (stream: ProgressStream, wait: WaitUntil): Command => ({
  name: 'invoice resolve',
  positionals: ['ID'],
  summary: 'settle an indeterminate invoice or a failed cancellation, by what the authorizer holds',
  options: {
    as: { type: 'string', help: 'issued, failed or canceled; required' },
    evidence: { type: 'string', help: 'what it rests on, in your words; required' },
    'access-key': { type: 'string', help: 'with --as issued: where the document stands' },
    'no-wait': { type: 'boolean', help: 'with --as failed: do not wait for the second of the two look-ups' },
  },
  changes: true,
  run: async ({ positionals: [id = ''], flags, actor, session }) => {
    const as = ENDS.find((end) => end === textFlag(flags, 'as'));
    if (as === undefined) return badUsage(`--as must be one of ${ENDS.join(', ')}`);
    const evidence = textFlag(flags, 'evidence')?.trim() ?? '';
    if (evidence === '') return badUsage('--evidence must say what the settlement rests on');
    const accessKey = textFlag(flags, 'access-key');
    if (accessKey !== undefined && (as !== 'issued' || !isAccessKey(accessKey)))
      return badUsage('--access-key is the 50 characters of a note, and goes with --as issued');
    const opened = await session();
    const found = await findStream(id, opened);
    if (found === undefined || parseInvoiceStream(found) === undefined) return refused(`no invoice ${id}`);
    const deps = await opened.settleDeps(actor);
    const command = { stream: found, as, evidence, ...(accessKey === undefined ? {} : { accessKey }) };
    for (let look = 1; ; look += 1) {
      const result = await settleInvoice(command, deps);
      if (result.kind !== 'ask_again' || flags['no-wait'] === true || look === LOOKS) return outcome(id, as, result);
      stream.write(`${result.detail} at ${result.at}\n`);
      await wait(result.at, opened.clock.now());
    }
  },
});

export const resolveCommands = (stream: ProgressStream, wait: WaitUntil = waitUntil): readonly Command[] => [
  resolve(stream, wait),
];

const outcome = (id: string, as: SettleAs, result: SettleResult): Outcome => {
  switch (result.kind) {
    case 'settled':
      return done(`${id} is settled as ${result.detail}`, { id, as, settled: true });
    case 'already_so':
      return done(`${id} is ${as} already`, { id, as, settled: false });
    case 'refused':
      return refused(`${id} is not settled: ${result.reason}`);
    case 'ask_again':
      return refused(`${id} is not settled yet: ${result.detail}; run this again after ${result.at}`);
  }
};
