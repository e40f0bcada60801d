import { type DecodedEvent, decodeEvent } from '../../app/event-store/codec.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { parseInvoiceStream } from '../../domain/shared/ids.js';
import { type Command, done, refused } from '../command.js';
import type { Session } from '../session.js';
import { findStream, readWhole } from './events.js';

const timeline: Command = {
  name: 'invoice timeline',
  positionals: ['ID'],
  summary: 'the story of one invoice: what, when, who, evidence',
  options: {},
  changes: false,
  run: async ({ positionals: [id = ''], session }) => {
    const story = await timelineOf(id, await session());
    return story === undefined ? refused(`no invoice ${id}`) : done(renderTimeline(story), { id, timeline: story });
  },
};

export const invoiceCommands: readonly Command[] = [timeline];

export type TimelineEntry = { at: string; event: string; who: string; request_id: string; evidence: string };

/** Undefined when no company has an invoice of this id. */
export const timelineOf = async (id: string, session: Session): Promise<readonly TimelineEntry[] | undefined> => {
  const stream = await findStream(id, session);
  const address = stream === undefined ? undefined : parseInvoiceStream(stream);
  if (stream === undefined || address === undefined) return undefined;
  const recorded = await readWhole(stream, session);
  const events = (await Promise.all(
    recorded.map((event) => decodeEvent(event, 'sealed')),
  )) as readonly DecodedEvent<InvoiceEvent>[];
  return events.map((event) => ({
    at: event.metadata.recordedAt ?? '',
    event: event.type,
    who: event.metadata.actor ?? '',
    request_id: event.metadata.correlationId ?? '',
    evidence: evidenceOf(event),
  }));
};

export const renderTimeline = (story: readonly TimelineEntry[]): string =>
  story
    .map(({ at, event, who, evidence }) =>
      `${at}  ${event.padEnd(27)} ${shortActor(who).padEnd(20)} ${evidence}`.trimEnd(),
    )
    .join('\n');

/** The first block of a key's UUID tells keys apart for a reader; `--json` has the whole. */
const shortActor = (who: string): string => who.replace(/^(apiKey:key_[0-9a-f]{8})-.*$/, '$1');

/** One short line of facts; never a personal field, which is sealed here anyway. */
const evidenceOf = (event: InvoiceEvent): string => {
  switch (event.type) {
    case 'InvoiceAccepted':
      return `${event.data.amountInCents} cents, line ${event.data.line.cnae}/${event.data.line.serviceCode}`;
    case 'InvoiceImported':
      return `from ${event.data.origin}, ${event.data.state}`;
    case 'IssuanceAttempted':
      return `attempt ${event.data.attempt}, ${event.data.dpsId}, digest ${event.data.digest}`;
    case 'CancellationAttempted':
      return `attempt ${event.data.attempt}, ${event.data.requestId}`;
    case 'IssuanceNotSent':
    case 'CancellationNotSent':
    case 'IssuanceOutcomeUnknown':
    case 'CancellationOutcomeUnknown':
      return [`attempt ${event.data.attempt}: ${event.data.reason}`, ...event.data.codes].join(' ');
    case 'IssuanceProvenAbsent':
    case 'CancellationProvenAbsent':
      return `asked ${event.data.firstAskedAt} and ${event.data.secondAskedAt}`;
    case 'Authorized':
      return `access key ${event.data.accessKey}, by ${event.data.evidence}`;
    case 'IssuanceRejected':
      return event.data.codes.join(' ');
    case 'NumberConflictFound':
      return `${event.data.dpsId} holds ${event.data.accessKey}`;
    case 'CancellationRequested':
      return `reason ${event.data.reason}`;
    case 'CancellationConfirmed':
      return `canceled ${event.data.canceledAt}, by ${event.data.evidence}`;
    case 'CancellationNotConfirmed':
      return [event.data.reason, ...event.data.codes].join(' ');
    case 'IssuanceFailed':
    case 'NotProcessed':
    case 'IssuanceInterrupted':
      return `due ${event.data.failedAt}`;
    case 'IndeterminateResolved':
      return `settled as ${event.data.as}`;
    case 'CancellationSettledBySupport':
      return `canceled ${event.data.canceledAt}`;
    case 'ReconciliationDifferenceFound':
      return event.data.kind;
    case 'ReferenceTaken':
      return `by nfse_${event.data.invoiceId}`;
    case 'TestInvoiceDeleted':
      return `chain ended at ${event.data.lastHash}`;
  }
};
