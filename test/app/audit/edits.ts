import { createHash } from 'node:crypto';
import { describeEvent, readEventLine } from '../../../src/app/audit/event-line.js';
import { exportEvents } from '../../../src/app/audit/export-events.js';
import { type ExportFilter, type ManifestHead, manifestText, signedText } from '../../../src/app/audit/manifest.js';
import { type ExportReport, verifyExport } from '../../../src/app/audit/verify-export.js';
import { eventIdOf } from '../../../src/app/event-store/codec.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import type { ExportSigner } from '../../../src/ports/export-signer.js';
import { rehashed, relinked } from './world.js';

/** An export as two texts, as they would lie on the disk. */
export type ExportTexts = { file: string; manifest: string };

export const exportOf = async (
  log: EventLog,
  signer: ExportSigner,
  filter: ExportFilter = {},
): Promise<ExportTexts> => {
  const exported = exportEvents(filter, { log });
  let file = '';
  for await (const chunk of exported.chunks()) file += chunk;
  const { head: found, streams } = await exported.finish();
  const head: ManifestHead = {
    ...found,
    ...{ file: 'events.ndjson', bytes: Buffer.byteLength(file), sha256: sha256(file) },
    ...{ exported_at: '2026-11-23T12:00:00.000Z', public_key: await signer.publicKey() },
  };
  const signature = await signer.sign(signedText(head));
  return { file, manifest: [...manifestText(head, signature, streams())].join('') };
};

export const verified = (
  { file, manifest }: { file: string; manifest: string | undefined },
  trusted: readonly string[],
): Promise<ExportReport> =>
  verifyExport({
    lines: async function* () {
      yield file.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1);
    },
    fileHash: async () => ({ sha256: sha256(file), bytes: Buffer.byteLength(file) }),
    ...{ manifest, trusted },
  });

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whole numbers below `below`, the same ones for a seed (mulberry32). */
export const dice = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

/** What somebody with the file in hands may do to it; undefined when the draw does not change anything. */
export type Edit = (texts: ExportTexts, draw: (below: number) => number) => ExportTexts | undefined;

const onLines =
  (change: (lines: string[], draw: (below: number) => number) => readonly string[] | undefined): Edit =>
  ({ file, manifest }, draw) => {
    const lines = change(file.trimEnd().split('\n'), draw);
    const next = lines === undefined ? file : `${lines.join('\n')}\n`;
    return next === file ? undefined : { file: next, manifest };
  };

const flipped = (text: string, draw: (below: number) => number): string => {
  const place = draw(text.length);
  const code = text.charCodeAt(place) ^ (1 << draw(5));
  return `${text.slice(0, place)}${String.fromCharCode(code)}${text.slice(place + 1)}`;
};

const eventsOf = (lines: readonly string[]): readonly RecordedEvent[] =>
  lines.flatMap((line) => readEventLine(line) ?? []);
const linesOf = (events: readonly RecordedEvent[]): readonly string[] =>
  events.map((event) => JSON.stringify(describeEvent(event)));

const drawn = <T>(all: readonly T[], draw: (below: number) => number): T => {
  const one = all[draw(all.length)];
  if (one === undefined) throw new Error('nothing to draw from');
  return one;
};

export const edits: Readonly<Record<string, Edit>> = {
  'one flipped bit of the file': ({ file, manifest }, draw) => {
    const next = flipped(file, draw);
    return next === file ? undefined : { file: next, manifest };
  },
  'one flipped bit of the manifest': ({ file, manifest }, draw) => {
    const next = flipped(manifest, draw);
    // White space of JSON may be another one without saying anything else.
    const same = ((): boolean => {
      try {
        return JSON.stringify(JSON.parse(next)) === JSON.stringify(JSON.parse(manifest));
      } catch {
        return false;
      }
    })();
    return same ? undefined : { file, manifest: next };
  },
  'an event dropped': onLines((lines, draw) => lines.toSpliced(draw(lines.length), 1)),
  'an event twice': onLines((lines, draw) => {
    const line = drawn(lines, draw);
    return lines.toSpliced(draw(lines.length + 1), 0, line);
  }),
  'two events in each other’s place': onLines((lines, draw) => {
    const [one, other] = [draw(lines.length), draw(lines.length)];
    const [a = '', b = ''] = [lines[one], lines[other]];
    return lines.with(one, b).with(other, a);
  }),
  'an event rewritten': onLines((lines, draw) => {
    const place = draw(lines.length);
    const event = eventsOf(lines)[place];
    return (
      event &&
      lines.with(place, linesOf([{ ...event, data: { ...event.data, at: '2020-01-01T00:00:00.000Z' } }])[0] ?? '')
    );
  }),
  'an event rewritten, with every hash behind it': onLines((lines, draw) => {
    const events = eventsOf(lines);
    const victim = drawn(events, draw);
    const metadata = { ...victim.metadata, actor: 'support:nobody' };
    return linesOf(
      relinked(
        events.map((event) => (event === victim ? { ...victim, metadata } : event)),
        victim.stream,
      ),
    );
  }),
  'an event dropped, with every hash and revision behind it': onLines((lines, draw) => {
    const events = eventsOf(lines);
    const victim = drawn(events, draw);
    const rest = events
      .filter((event) => event !== victim)
      .map((event) =>
        event.stream === victim.stream && event.revision > victim.revision
          ? { ...event, revision: event.revision - 1, metadata: linkOver(event, victim) }
          : event,
      );
    return linesOf(relinked(rest, victim.stream));
  }),
  'an event added at the end of its stream, linked and hashed': onLines((lines, draw) => {
    const events = eventsOf(lines);
    const { stream } = drawn(events, draw);
    const last = events.findLast((event) => event.stream === stream);
    const end = events[events.length - 1];
    if (last === undefined || end === undefined) return undefined;
    const metadata = { ...last.metadata, commandId: 'forged', prevHash: last.metadata.hash ?? '' };
    const position = (end.position + 1n) as LogPosition;
    const id = eventIdOf('forged', 0);
    return [...lines, ...linesOf([rehashed(last, { id, metadata, position, revision: last.revision + 1 })])];
  }),
  'a cut tail': onLines((lines, draw) => lines.slice(0, lines.length - 1 - draw(lines.length - 1))),
  'a missing stream': onLines((lines, draw) => {
    const { stream } = drawn(eventsOf(lines), draw);
    return linesOf(eventsOf(lines).filter((event) => event.stream !== stream));
  }),
  'a stream under another name': onLines((lines, draw) => {
    const { stream } = drawn(eventsOf(lines), draw);
    return linesOf(
      relinked(
        eventsOf(lines).map((event) => (event.stream === stream ? { ...event, stream: `${stream}x` } : event)),
        `${stream}x`,
      ),
    );
  }),
};

/** The event behind the dropped one is linked to the one before it. */
const linkOver = (event: RecordedEvent, dropped: RecordedEvent): RecordedEvent['metadata'] =>
  event.revision === dropped.revision + 1
    ? { ...event.metadata, prevHash: dropped.metadata.prevHash ?? '' }
    : event.metadata;
