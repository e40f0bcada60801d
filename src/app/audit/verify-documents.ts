import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { invoicePrefix, type StreamName } from '../../domain/shared/ids.js';
import type { EmbeddedDigest, SignatureOracle } from '../../ports/documents.js';
import type { EventLog, RecordedEvent } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { decodeSealed } from '../event-store/codec.js';
import { isSealed, openField, sealedWith } from '../event-store/sealing.js';
import { embeddedDocuments } from './embedded-documents.js';
import { type Findings, findingOf } from './finding.js';
import { documentFault, storedDocumentOf } from './stored-document.js';
import { shareOf, type WalkProgress, walkLog } from './walk.js';

/** `sealed`: their key was destroyed or given up, so nobody opens them. */
export type DocumentCount = { checked: number; sealed: number };

export type DocumentDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  keys: SealingKeys;
  oracle: SignatureOracle;
  embeddedDigest: EmbeddedDigest;
};

/**
 * Opens every signed document that the log keeps and asks another implementation than the one that signed or took it (design
 * section 9), then compares what the authorizer gave back with what was sent. Nothing of a document is shown. An event that nobody can read throws, so the log is verified before.
 */
export const verifyDocuments = async (
  { log, keys, oracle, embeddedDigest }: DocumentDeps,
  findings: Findings,
  onProgress?: (progress: WalkProgress) => void,
): Promise<DocumentCount> => {
  const head = await log.head();
  const count = { checked: 0, sealed: 0 };
  const embedded = embeddedDocuments(oracle, embeddedDigest);
  let events = 0;
  /** Of invoices without an outcome so far: what each sent last. */
  const sent = new Map<StreamName, { dpsId: string; digest: string }>();
  for await (const page of walkLog(log, Object.values(invoicePrefix))) {
    for (const recorded of page) {
      const event = decodeSealed(recorded) as InvoiceEvent;
      if (SETTLED.has(event.type)) sent.delete(recorded.stream);
      const document = storedDocumentOf(event);
      const opened = document && (await openedText(recorded, document.field, keys));
      if (document !== undefined && opened !== undefined) {
        count[opened === 'no key' ? 'sealed' : 'checked'] += 1;
        const digest = await openedText(recorded, 'digest', keys);
        const told = typeof digest === 'object' ? { ...document, digest: digest.text } : document;
        const fault =
          opened === 'no key'
            ? undefined
            : opened === 'changed' || digest === 'changed'
              ? `the ${document.name} cannot be opened`
              : (documentFault(told, opened.text, oracle) ??
                resendFault(recorded.stream, event, told.digest, sent) ??
                embedded.faultOf(recorded.stream, event, opened.text));
        if (fault !== undefined) findings.add(findingOf(recorded, 'document', fault));
      }
      embedded.passed(recorded.stream, event);
    }
    events += page.length;
    onProgress?.({ events, share: shareOf(page.at(-1)?.position ?? null, head) });
  }
  return count;
};

/** Nothing is sent after these. */
const SETTLED: ReadonlySet<InvoiceEvent['type']> = new Set([
  ...(['Authorized', 'IssuanceRejected', 'IssuanceFailed', 'NotProcessed', 'IssuanceInterrupted'] as const),
  'TestInvoiceDeleted',
]);

/** Under one DPS id one content is sent, however often. */
const resendFault = (
  stream: StreamName,
  { type, data }: InvoiceEvent,
  digest: string | undefined,
  sent: Map<StreamName, { dpsId: string; digest: string }>,
): string | undefined => {
  if (type !== 'IssuanceAttempted') return undefined;
  const before = sent.get(stream);
  if (digest !== undefined) sent.set(stream, { dpsId: data.dpsId, digest });
  return before?.dpsId === data.dpsId && before.digest !== digest ? 'a further attempt with another DPS' : undefined;
};

/** Undefined for an optional field that is not there. */
const openedText = async (
  { data, stream, id: eventId }: RecordedEvent,
  field: string,
  keys: SealingKeys,
): Promise<{ text: string } | 'no key' | 'changed' | undefined> => {
  const value = data[field];
  if (value === undefined) return undefined;
  if (!isSealed(value)) return { text: String(value) };
  const generation = sealedWith(value)?.generation;
  const key = generation === undefined ? undefined : await keys.forOpening(generation, stream);
  if (key === undefined) return 'no key';
  try {
    return { text: String(openField(value, { stream, eventId, field }, key)) };
  } catch {
    return 'changed';
  }
};
