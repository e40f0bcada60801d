import { modes, type StreamName } from '../../domain/common/ids.js';
import type { Lane } from '../../lib/lanes.js';
import { laneOf, type WorkItem } from '../../ports/work-queue.js';

export type Kind = WorkItem['kind'];

export const kinds = ['issue', 'cancel'] as const satisfies readonly Kind[];

export type ConsumerName = { name: string; lane: Lane; filter: string };

export type Names = ReturnType<typeof namesFor>;

/** Names of the queue's streams, subjects and consumers; installations that share a server use different prefixes. */
export const namesFor = (prefix: string) => ({
  workStream: `${prefix}-work`,
  workSubjects: modes.flatMap((lane) => kinds.map((kind) => `${prefix}.work.${kind}.${lane}.*`)),
  parkedStream: `${prefix}-parked`,
  everyParked: `${prefix}.parked.>`,
  parkedSubjects: kinds.map((kind) => `${prefix}.parked.${kind}.*`),
  /** One for each kind and lane; a work-queue stream demands that their filters do not overlap. */
  consumers: modes.flatMap((lane): readonly ConsumerName[] =>
    kinds.map((kind) => ({ name: `${kind}-${lane}`, lane, filter: `${prefix}.work.${kind}.${lane}.*` })),
  ),
  /** One subject per stream and kind, so that the server keeps one work item of each. */
  work: ({ kind, stream }: Pick<WorkItem, 'kind' | 'stream'>): string =>
    `${prefix}.work.${kind}.${laneOf(stream)}.${subjectToken(stream)}`,
  parked: ({ kind, stream }: Pick<WorkItem, 'kind' | 'stream'>): string =>
    `${prefix}.parked.${kind}.${subjectToken(stream)}`,
});

/** A stream's name as one token of a subject: a character that a token may not hold becomes `%` and its UTF-8 bytes in hex. */
export const subjectToken = (stream: StreamName): string =>
  stream.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
