import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { type InvoiceBody, invoiceView, isDownloadable, visible } from '../../domain/invoice/view.js';
import { parseInvoiceStream, type StreamName } from '../../domain/shared/ids.js';
import { type Instant, isBefore } from '../../domain/shared/time.js';
import type { EventStore } from '../event-store/event-store.js';

/** Links without the token, which is made fresh at every read. */
export type ReplayedBody = InvoiceBody & { links?: { pdf: string; xml: string } };

/** `invoice` is null while the API would have answered 404: before acceptance, or when a test invoice's life was over. */
export type Replay = { at: Instant; livemode: boolean; invoice: ReplayedBody | null };

export type ReplayDeps = { store: EventStore; testRetentionSeconds: number; baseUrl: string };

/**
 * The invoice as GET would have shown it at that instant, folded from what had been recorded until then; undefined for a stream
 * that has no events or is no invoice's. Of a test invoice that was ended only the end is left, so nothing is shown.
 */
export const replayInvoice = async (
  stream: StreamName,
  at: Instant,
  { store, testRetentionSeconds, baseUrl }: ReplayDeps,
): Promise<Replay | undefined> => {
  const address = parseInvoiceStream(stream);
  const { events } = await store.load<InvoiceEvent>(stream);
  if (address === undefined || events.length === 0) return undefined;
  // Two processes' clocks differ, and an event may bear an earlier instant than the one before it: nobody ever saw it without that.
  const last = events.findLastIndex(({ metadata }) => !isBefore(at, metadata.recordedAt ?? ''));
  const state = events.slice(0, last + 1).reduce<InvoiceState>(evolve, initialInvoice);
  const seen = visible(state, at, testRetentionSeconds);
  const livemode = address.mode === 'live';
  if (seen.kind !== 'invoice') return { at, livemode, invoice: null };
  const body: ReplayedBody = invoiceView(seen.invoice, at);
  if (isDownloadable(seen.invoice)) {
    const base = `${baseUrl}/v1/nfse/${body.id}`;
    body.links = { pdf: `${base}/pdf`, xml: `${base}/xml` };
  }
  return { at, livemode, invoice: body };
};
