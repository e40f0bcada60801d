import { revealsStream } from '../../domain/log/audit-events.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Json, RecordedEvent } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { openCarried } from '../event-store/codec.js';
import { eventTypeDefinitions } from '../event-store/event-types.js';
import { isSealed } from '../event-store/sealing.js';
import { type AuditDeps, appendAudit } from './append-audit.js';
import { describeEvent, type ShownEvent } from './event-line.js';

/** Puts on record that an operator is about to see personal data, before any is opened; whoever cannot record it sees nothing. */
export const recordReveal = (seen: { command: string; subject: string }, deps: AuditDeps): Promise<void> => {
  const event = (at: Instant) => ({ type: 'PersonalDataRevealed' as const, data: { ...seen, at } });
  return appendAudit(revealsStream, event, 'record_reveal', deps);
};

/** The event with its personal fields in clear beside the sealed ones; one whose key was destroyed stays sealed. */
export const revealEvent = async (recorded: RecordedEvent, keys: SealingKeys): Promise<ShownEvent> => {
  const revealed: Record<string, Json> = {};
  for (const field of eventTypeDefinitions.get(recorded.type)?.personal ?? []) {
    const value = recorded.data[field];
    if (!isSealed(value)) continue;
    const opened = await openCarried(value, recorded.stream, field, keys);
    if (opened !== undefined) revealed[field] = opened;
  }
  const shown = describeEvent(recorded);
  return Object.keys(revealed).length === 0 ? shown : { ...shown, revealed };
};
