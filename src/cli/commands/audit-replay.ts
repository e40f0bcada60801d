import { replayInvoice } from '../../app/audit/replay.js';
import { recordReveal } from '../../app/audit/reveal.js';
import { findStream } from '../../app/support/find-stream.js';
import { badUsage, type Command, done, refused, textFlag } from '../command.js';
import { readInstant } from '../instant-flag.js';
import { auditDeps } from '../session.js';

/** Shows the customer in clear, as the API does, so it goes on record like every look at personal data. */
export const replay: Command = {
  name: 'audit replay',
  positionals: ['ID'],
  summary: 'the invoice body as the API would have shown it at an instant; goes on record with the actor',
  options: { at: { type: 'string', help: 'the instant, e.g. 2026-11-21T12:00:00Z; required' } },
  changes: true,
  run: async ({ positionals: [id = ''], flags, actor, session }) => {
    const at = readInstant(textFlag(flags, 'at') ?? '');
    if (at === undefined) return badUsage('--at takes an instant: 2026-11-21T12:00:00Z');
    const opened = await session();
    const stream = await findStream(id, opened);
    const replayed = stream === undefined ? undefined : await replayInvoice(stream, at, opened);
    if (stream === undefined || replayed === undefined) return refused(`no invoice ${id}`);
    if (replayed.invoice !== null) {
      await recordReveal({ command: 'audit replay', subject: stream }, auditDeps(opened, actor));
    }
    const text =
      replayed.invoice === null
        ? `at ${at} the API would have answered 404: ${id} was not accepted yet, or its life was over`
        : JSON.stringify(replayed.invoice, null, 2);
    return done(text, replayed);
  },
};
