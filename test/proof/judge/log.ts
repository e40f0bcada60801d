import { createHash } from 'node:crypto';
import type { Finding } from './finding.js';
import type { LoggedEvent, Raw } from './raw.js';
import type { Story } from './story.js';

/** Hash and link of every event, the order of revisions, and the manifest (docs/operations/audit.md#an-export-and-its-manifest). */
export const judgeChain = ({ events, manifest, exportSha256 }: Raw): readonly Finding[] => {
  const findings: Finding[] = [];
  const lost = (detail: string, evidence: string): void => void findings.push({ name: 'lost_event', detail, evidence });
  const heads = new Map<string, LoggedEvent>();
  for (const event of events) {
    const at = `${event.stream}@${event.revision}`;
    const before = heads.get(event.stream);
    if (event.revision !== (before?.revision ?? -1) + 1)
      lost(`${at} follows revision ${before?.revision ?? 'none'}`, `position ${event.position}`);
    if ((event.meta.prevHash ?? '') !== (before?.meta.hash ?? ''))
      lost(`${at} does not name the hash of the event before`, `position ${event.position}`);
    if (hashOf(event) !== event.meta.hash) lost(`${at} is not what its hash says`, `position ${event.position}`);
    heads.set(event.stream, event);
  }
  for (const { stream, revision, hash } of manifest.streams) {
    const head = heads.get(stream);
    if (head?.revision !== revision || head.meta.hash !== hash)
      lost(`${stream} ends at ${head?.revision ?? 'nothing'}, by the manifest at ${revision}`, stream);
  }
  if (manifest.events !== events.length)
    lost(`the manifest counts ${manifest.events} events, the file has ${events.length}`, manifest.file);
  if (manifest.sha256 !== exportSha256) lost('the file is not the one that the manifest names', manifest.file);
  return findings;
};

/** SHA-256 of the text with one possible spelling that docs/operations/audit.md describes. */
export const hashOf = ({ stream, revision, id, type, data, meta }: Omit<LoggedEvent, 'position' | 'at'>): string => {
  const pairs = Object.entries(meta)
    .filter(([key]) => key !== 'hash')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([1, meta.prevHash ?? '', stream, revision, id, type, pairs, inOrder(data)]);
  return createHash('sha256').update(text).digest('hex');
};

const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
};

/** What a client was told is in the log: each 202 its acceptance, each status that was shown an event. */
export const judgeTold = ({ http }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const known = new Map(stories.map((story) => [story.id, story]));
  const told = new Map<string, string>();
  const findings: Finding[] = [];
  for (const { status, answer, path, ended } of http) {
    if (status === undefined || status >= 300 || typeof answer?.id !== 'string') continue;
    const story = known.get(answer.id);
    const key = `${answer.id} ${String(answer.status)}`;
    if (told.has(key)) continue;
    told.set(key, ended);
    if (story === undefined)
      findings.push({
        name: 'lost_invoice',
        detail: `${answer.id} was answered with ${status}, and the log does not have it`,
        evidence: `${path} at ${ended}`,
      });
    else if (!hasShown(story, String(answer.status)))
      findings.push({
        name: 'lost_event',
        detail: `${answer.id} was shown as ${String(answer.status)}, and no event says so`,
        evidence: `${path} at ${ended}`,
      });
  }
  return findings;
};

/** Events that make the status. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  queued: ['InvoiceAccepted'],
  processing: ['IssuanceAttempted'],
  issued: ['Authorized', 'IndeterminateResolved'],
  failed: ['IssuanceRejected', 'IssuanceFailed', 'NotProcessed', 'IndeterminateResolved'],
  indeterminate: ['IssuanceInterrupted'],
  canceled: ['CancellationConfirmed', 'CancellationSettledBySupport', 'NoteCanceledElsewhere'],
};

const hasShown = ({ events }: Story, status: string): boolean =>
  events.some(({ type }) => MAKERS[status]?.includes(type) === true);
