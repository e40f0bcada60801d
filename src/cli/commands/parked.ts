import { findStream } from '../../app/operator/support/search.js';
import { retryParked } from '../../app/operator/support/waiting.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import { counted } from '../../lib/counted.js';
import { printableLines } from '../../lib/printable.js';
import type { ParkedWork } from '../../ports/work-queue.js';
import { badUsage, type Command, done } from '../command.js';
import { refusedUnknown } from '../rows-behind.js';
import { auditDeps } from '../session.js';

const list: Command = {
  name: 'parked list',
  summary: 'work that failed too often and waits for a person; its invoices still end by their time limits',
  changes: false,
  run: async ({ session }) => {
    const { queue } = await session();
    const { work: parked, count } = await queue.parked();
    const lines = parked.map(
      (item) => `${item.parkedAt}  ${item.kind.padEnd(6)}  ${idOf(item).padEnd(41)}  ${item.reason}`,
    );
    if (count > parked.length) lines.push(`and ${count - parked.length} more`);
    return done(lines.length === 0 ? 'nothing is parked' : printableLines(lines), {
      parked: parked.map((item) => ({
        id: idOf(item),
        stream: item.stream,
        kind: item.kind,
        reason: item.reason,
        parked_at: item.parkedAt,
      })),
    });
  },
};

const retry: Command = {
  name: 'parked retry',
  positionals: ['[ID]'],
  summary: 'try parked work again: that of one invoice, or --all',
  options: { all: { help: 'everything that is parked' } },
  changes: true,
  run: async ({ positionals: [id], flags, actor, session, terminal }) => {
    if ((id === undefined) === (flags.all !== true)) return badUsage('name an ID, or --all');
    const opened = await session();
    const { queue } = opened;
    const again = (stream: StreamName): Promise<boolean> => retryParked(stream, queue, auditDeps(opened, actor));
    if (id === undefined) {
      const { work: parked, count } = await queue.parked();
      const streams = [...new Set(parked.map(({ stream }) => stream))];
      let retried = 0;
      for (const stream of streams) if (await again(stream)) retried += 1;
      const more = count - parked.length;
      const rest = more > 0 ? `\n${counted(more, 'more parked work item')}: run this again` : '';
      const text = `${counted(retried, 'invoice')} tried again within seconds${rest}`;
      return done(text, more > 0 ? { retried, remaining: more } : { retried });
    }
    const stream = await findStream(id, opened);
    const found = stream !== undefined && (await again(stream));
    return found
      ? done(`${id} is tried again within seconds`, { retried: 1 })
      : await refusedUnknown(`nothing of ${id} is parked`, opened, terminal);
  },
};

export const parkedCommands: readonly Command[] = [list, retry];

const idOf = ({ stream }: ParkedWork): string => {
  const address = parseInvoiceStream(stream);
  return address === undefined ? stream : publicInvoiceId(address.invoiceId);
};
