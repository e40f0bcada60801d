import { type EventLog, isEarlier, type LogPosition } from '../../ports/event-log.js';

/**
 * Whether the log reaches this position and can be read from there. A stored position of an end that the log has lost is past the head, or lies inside
 * a record once the log has grown again; it can also be that of another event, which only a remembered event shows (ADR 14).
 */
export const isPlaceOf = async (
  log: Pick<EventLog, 'hasPlace'>,
  head: LogPosition | null,
  position: LogPosition | null,
): Promise<boolean> => position === null || (!isEarlier(head, position) && (await log.hasPlace?.(position)) !== false);
