import { createHash, randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { hashText } from '../../../src/domain/log/hash-text.js';
import type { AppendResult, EventLog, EventToAppend, JsonObject, RecordedEvent } from '../../../src/ports/event-log.js';

export type EventLogEngine = {
  log: EventLog;
  /** The same log through a new connection. */
  reopen(): Promise<EventLog>;
  /** Ends every connection of the log, as a restart of the server would; absent where there is none to lose. */
  breakConnections?(): Promise<void>;
  /** Others write to this log and read it meanwhile: its head is not always the event that the test wrote last. */
  isShared?: true;
  /** What was cut leaves its stream at once, and the whole log only when the engine frees the space. */
  cutShowsInWholeLog?: true;
  close(): Promise<void>;
};

export const NONE = { kind: 'none' } as const;
export const at = (revision: number) => ({ kind: 'exact', revision }) as const;

export const freshStream = (): string => `test-${randomUUID()}`;

/** Of a test invoice: what retention may cut once it was deleted. */
export const freshTestInvoice = (): string => `nfseTest-12345678000195_${randomUUID()}`;

/** A stream that may be cut. In a shared log it is no invoice's: a service on that log would halt at an event that no invoice has. */
export const freshCuttable = ({ isShared }: EventLogEngine): string =>
  isShared === true ? freshStream() : freshTestInvoice();

/** An event of this place, hashed as the codec does. */
export const chained = (
  stream: string,
  revision: number,
  part: { id?: string; type?: string; data?: JsonObject } = {},
): EventToAppend => {
  const event = {
    id: part.id ?? randomUUID(),
    type: part.type ?? 'Happened',
    data: part.data ?? { n: revision, text: 'ação' },
    metadata: { schemaVersion: '1', commandId: randomUUID(), prevHash: revision === 0 ? '' : 'ab12' },
  };
  return { ...event, metadata: { ...event.metadata, hash: sha256(hashText(stream, revision, event)) } };
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const recomputed = (event: RecordedEvent): string => sha256(hashText(event.stream, event.revision, event));

type Appending = (append: () => Promise<AppendResult>) => Promise<AppendResult>;

/** A test invoice with this many events, of which the last one says that it was deleted. */
export const deletedTestInvoice = async (
  log: EventLog,
  count: number,
  stream = freshTestInvoice(),
): Promise<string> => {
  await streamOf(log, count - 1, stream);
  const last = chained(stream, count - 1, { type: 'TestInvoiceDeleted' });
  expect(await log.append(stream, at(count - 2), [last])).toEqual({ ok: true, revision: count - 1 });
  return stream;
};

/** A stream with this many events, appended one by one; `retried` as the last is for connections that are dying. */
export const streamOf = async (
  log: EventLog,
  count: number,
  stream = freshStream(),
  appending: Appending = (append) => append(),
): Promise<string> => {
  for (let revision = 0; revision < count; revision += 1) {
    const events = [chained(stream, revision)];
    const result = await appending(() => log.append(stream, revision === 0 ? NONE : at(revision - 1), events));
    expect(result).toEqual({ ok: true, revision });
  }
  return stream;
};

/**
 * For what may hit a dying connection; `action` may have been done when it fails, so it must bear being done twice. An append
 * of the same events does, one of events that are made anew does not.
 */
export const retried = <T>(action: () => Promise<T>): Promise<T> =>
  vi.waitFor(action, { timeout: 60_000, interval: 25 });
