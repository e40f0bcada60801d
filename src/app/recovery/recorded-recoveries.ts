import { type AuditEvent, supportStream } from '../../domain/audit/events.js';
import { providerOfKey } from '../../domain/common/access-key.js';
import type { CompanyId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { EventStore } from '../event-store/event-store.js';
import type { NoteKey } from './known-work.js';

const recoveries = async (store: Pick<EventStore, 'load'>) => {
  const { events } = await store.load<AuditEvent>(supportStream);
  return events.filter((event) => event.type === 'LogRecovered');
};

/** When log recoveries ended, in order. */
export const logRecoveries = async (store: Pick<EventStore, 'load'>): Promise<readonly Instant[]> =>
  (await recoveries(store)).map(({ data }) => data.at);

/** The companies that the last log recovery could not compare: each may have notes that the log has lost. */
export const heldCompanies = async (store: Pick<EventStore, 'load'>): Promise<readonly CompanyId[]> =>
  (await lastRecovery(store))?.heldCompanies ?? [];

/** What the last log recovery has recorded; undefined where there was none. */
export const lastRecovery = async (
  store: Pick<EventStore, 'load'>,
): Promise<Extract<AuditEvent, { type: 'LogRecovered' }>['data'] | undefined> => (await recoveries(store)).at(-1)?.data;

/** Who ended a pause over a live note without an invoice (`--accept-unknown`), and when. */
export type Acceptance = { by: string; at: Instant };

/**
 * Says of a note who has accepted it last. A recovery records the keys of live notes only, and the key of a note names its company. Earlier versions
 * recorded those of test notes too: nine of their digits are random, so none of them is the key of a live note.
 */
export const acceptedNotes = async (
  store: Pick<EventStore, 'load'>,
): Promise<(note: NoteKey) => Acceptance | undefined> => {
  const accepted = new Map<string, Acceptance>();
  for (const { data, metadata } of await recoveries(store))
    for (const key of data.accessKeys) accepted.set(key, { by: metadata.actor ?? 'unknown', at: data.at });
  return ({ mode, companyId, accessKey }) =>
    mode === 'live' && providerOfKey(accessKey) === companyId ? accepted.get(accessKey) : undefined;
};
