import type { RecordedEvent } from '../ports/event-log.js';

/** One event of any stream as a line: position, time, type, stream, actor. Nothing of its content. */
export const lineOf = ({ position, stream, revision, type, metadata }: RecordedEvent): string =>
  `${String(position).padStart(8)}  ${metadata.recordedAt ?? ''}  ${type.padEnd(28)} ${stream}@${revision}  ${metadata.actor ?? ''}`;
