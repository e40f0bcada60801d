import { invoiceStream, type Mode, parseInvoiceId, type StreamName } from '../../domain/shared/ids.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import { type Command, done, refused } from '../command.js';
import type { Session } from '../session.js';

const PAGE = 500;

const show: Command = {
  name: 'events show',
  positionals: ['ID|STREAM'],
  summary: 'the events of an invoice or of any stream, as stored',
  options: {},
  changes: false,
  run: async ({ positionals: [wanted = ''], session }) => {
    const opened = await session();
    const stream = await findStream(wanted, opened);
    const events = stream === undefined ? [] : await readWhole(stream, opened);
    if (events.length === 0) return refused(`nothing is recorded for ${wanted}`);
    const shown = events.map(describeEvent);
    const lines = shown.map(
      ({ revision, at, type, meta }) =>
        `${String(revision).padStart(4)}  ${at}  ${type.padEnd(28)} ${meta.actor ?? ''}`,
    );
    return done([`stream ${stream}`, ...lines].join('\n'), { events: shown });
  },
};

export const eventCommands: readonly Command[] = [show];

/** An invoice id names no company or mode, so every company is tried; a stream's name is taken as it is. */
export const findStream = async (wanted: string, { readModel, log }: Session): Promise<StreamName | undefined> => {
  const invoiceId = parseInvoiceId(wanted);
  if (invoiceId === undefined) return wanted;
  const modes: readonly Mode[] = ['live', 'test'];
  for (const company of await readModel.companies()) {
    if (company.kind !== 'company') continue;
    for (const mode of modes) {
      const stream = invoiceStream(mode, company.registration.cnpj, invoiceId);
      if ((await log.read(stream, { limit: 1 })).length > 0) return stream;
    }
  }
  return undefined;
};

export const readWhole = async (
  stream: StreamName,
  { log }: Pick<Session, 'log'>,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for (;;) {
    const last = events[events.length - 1];
    const page = await log.read(stream, { from: last === undefined ? 0 : last.revision + 1, limit: PAGE });
    events.push(...page);
    if (page.length < PAGE) return events;
  }
};

/** The shape of interface.md "Shapes of --json"; personal fields stay sealed. */
export const describeEvent = ({ position, stream, revision, type, id, data, metadata }: RecordedEvent) => ({
  position: String(position),
  stream,
  revision,
  type,
  id,
  at: metadata.recordedAt ?? '',
  data,
  meta: metadata,
});
