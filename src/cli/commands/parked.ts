import { findStream } from '../../app/support/find-stream.js';
import { retryParked } from '../../app/support/retry-parked.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/shared/ids.js';
import type { ParkedTap } from '../../ports/work-queue.js';
import { badUsage, type Command, done, refused } from '../command.js';
import { auditDeps } from '../session.js';
import { counted } from '../text.js';

const list: Command = {
  name: 'parked list',
  positionals: [],
  summary: 'work that was given up and waits for you; timers settle its invoices all the same',
  options: {},
  changes: false,
  run: async ({ session }) => {
    const parked = await (await session()).queue.parked();
    const lines = parked.map((tap) => `${tap.parkedAt}  ${tap.kind.padEnd(6)}  ${idOf(tap).padEnd(41)}  ${tap.reason}`);
    return done(lines.length === 0 ? 'nothing is parked' : lines.join('\n'), {
      parked: parked.map((tap) => ({
        ...{ id: idOf(tap), stream: tap.stream, kind: tap.kind, reason: tap.reason, parked_at: tap.parkedAt },
      })),
    });
  },
};

const retry: Command = {
  name: 'parked retry',
  positionals: ['[ID]'],
  summary: 'try parked work again: that of one invoice, or --all',
  options: { all: { type: 'boolean', help: 'everything that is parked' } },
  changes: true,
  run: async ({ positionals: [id], flags, actor, session }) => {
    if ((id === undefined) === (flags.all !== true)) return badUsage('name an ID, or --all');
    const opened = await session();
    const { queue } = opened;
    const again = (stream: StreamName): Promise<boolean> => retryParked(stream, queue, auditDeps(opened, actor));
    if (id === undefined) {
      const streams = [...new Set((await queue.parked()).map(({ stream }) => stream))];
      for (const stream of streams) await again(stream);
      return done(`${counted(streams.length, 'invoice')} tried again within seconds`, { retried: streams.length });
    }
    const stream = await findStream(id, opened);
    const found = stream !== undefined && (await again(stream));
    return found ? done(`${id} is tried again within seconds`, { retried: 1 }) : refused(`nothing of ${id} is parked`);
  },
};

export const parkedCommands: readonly Command[] = [list, retry];

const idOf = ({ stream }: ParkedTap): string => {
  const address = parseInvoiceStream(stream);
  return address === undefined ? stream : publicInvoiceId(address.invoiceId);
};
