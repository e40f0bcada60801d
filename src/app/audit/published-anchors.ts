import * as v from 'valibot';
import { anchorStream } from '../../domain/audit/events.js';
import { addSeconds, type Instant } from '../../domain/common/time.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { EventStore } from '../event-store/event-store.js';
import { logRecoveries } from '../recovery/recorded-recoveries.js';
import { findAnchor, type RecordedAnchor } from './anchor-log.js';
import type { ExaminedEvent } from './examine.js';
import type { Finding } from './finding.js';
import { anchorFields, hash, readSharedJson, strictObject, text } from './schema-parts.js';

const FORMAT = 'nfse-log-anchor/1';

export const anchorFileName = (day: string): string => `anchor-${day}.json`;

/** The name of an anchor whose day already has the file of another one, as after a restore. */
export const secondFileName = ({ day, hash }: RecordedAnchor): string => `anchor-${day}_${hash.slice(0, 16)}.json`;

/** Whether `audit verify --anchors` reads a file of this name. */
export const isAnchorFileName = (name: string): boolean => /^anchor-.*\.json$/.test(name);

/** What operators publish: an anchor with the identity of its log. */
export const anchorFileText = (anchor: RecordedAnchor, log: string): string =>
  `${JSON.stringify({ format: FORMAT, log, ...anchor }, null, 2)}\n`;

const schema = strictObject({ format: v.literal(FORMAT), log: text, ...anchorFields, hash });

/** A file of the folder of published anchors, with its name for the finding. */
export type PublishedFile = { name: string; text: string };

/** A file that contradicts the log. `at`: when its anchor was made, absent where the file is no anchor. */
type ContradictedFile = { name: string; at?: Instant; finding: Finding };

/** The published anchors that the log does not have, or has with another content. */
export const contradictedFiles = async (
  files: readonly PublishedFile[],
  findInLog: (day: string) => Promise<RecordedAnchor | undefined>,
): Promise<readonly ContradictedFile[]> => {
  const contradicted: ContradictedFile[] = [];
  for (const { name, text } of files) {
    const published = readSharedJson(schema, text);
    if (published === undefined) {
      contradicted.push({ name, finding: { kind: 'anchor_mismatch', detail: `${name} is no published anchor` } });
      continue;
    }
    const { day, at } = published;
    const stream = anchorStream(day);
    const anchor = await findInLog(day);
    if (anchor === undefined) {
      const detail = `${name} was published, but the log has no such anchor`;
      contradicted.push({ name, at, finding: { kind: 'anchor_missing', stream, detail } });
    } else if (!isSame(anchor, published)) {
      const detail = `${name} was published with another content: the log was rewritten since, or restored from a backup`;
      contradicted.push({ name, at, finding: { kind: 'anchor_mismatch', stream, revision: 0, detail } });
    }
  }
  return contradicted;
};

/** What published anchors are compared with: a log, or an export of a whole log. */
type AnchoredLog = {
  findAnchor(day: string): Promise<RecordedAnchor | undefined>;
  /** When log recoveries ended, in order. */
  recoveries(): Promise<readonly Instant[]>;
};

export const anchorsOfLog = (store: EventStore): AnchoredLog => ({
  findAnchor: (day) => findAnchor(day, store),
  recoveries: () => logRecoveries(store),
});

/** Keeps the anchors and recoveries among the events of an export. */
export const createAnchorCollection = (): AnchoredLog & { add(event: ExaminedEvent): void } => {
  const anchors = new Map<string, RecordedAnchor>();
  const recoveries: Instant[] = [];
  return {
    add: ({ type, stream, revision, data, metadata, shapeFault }) => {
      if (shapeFault !== undefined) return;
      const anchor = { ...data, hash: metadata.hash ?? '' };
      if (type === 'LogAnchored' && revision === 0) anchors.set(stream, anchor as unknown as RecordedAnchor);
      if (type === 'LogRecovered') recoveries.push(String(data.at));
    },
    findAnchor: async (day) => anchors.get(anchorStream(day)),
    recoveries: async () => recoveries,
  };
};

/** An anchor is appended in less than this after its instant; an export that began meanwhile does not hold the anchor. */
const APPENDED_WITHIN_SECONDS = 60;

/** Leaves out the anchors that are too young for an export made at `exportedAt`. What is no anchor stays, and becomes a finding. */
export const publishedBefore = (files: readonly PublishedFile[], exportedAt: Instant): readonly PublishedFile[] => {
  const end = addSeconds(exportedAt, -APPENDED_WITHIN_SECONDS);
  return files.filter(({ text }) => (readSharedJson(schema, text)?.at ?? '') <= end);
};

/**
 * Compares published anchors with those of the log. The anchor walk checks that the log's anchors fit its events. Both together show that nothing
 * before the last published anchor was changed since, not even by the owner of the database. A later log recovery is named beside a contradiction and
 * does not excuse it, because an owner of the database can write the event of a recovery too.
 */
export const compareAnchors = async (
  files: readonly PublishedFile[],
  anchored: AnchoredLog,
): Promise<readonly Finding[]> => {
  const contradicted = await contradictedFiles(files, anchored.findAnchor);
  if (contradicted.length === 0) return [];
  const recoveries = await anchored.recoveries();
  return contradicted.map(({ at, finding }) => {
    const recovery = recoveryAfter(at, recoveries);
    if (recovery === undefined) return finding;
    return {
      ...finding,
      detail: `${finding.detail}; the log says that it was recovered after a restore at ${recovery}`,
    };
  });
};

/** The first log recovery after an anchor was made. */
export const recoveryAfter = (at: Instant | undefined, recoveries: readonly Instant[]): Instant | undefined =>
  at === undefined ? undefined : recoveries.find((recovery) => recovery > at);

/** Whether the text is that of this very anchor. */
export const isFileOf = (anchor: RecordedAnchor, text: string): boolean => {
  const published = readSharedJson(schema, text);
  return published !== undefined && isSame(anchor, published);
};

type Published = v.InferOutput<typeof schema>;

const isSame = (anchor: RecordedAnchor, { format: _format, log: _log, ...published }: Published): boolean =>
  sortedJson(anchor) === sortedJson(published);
