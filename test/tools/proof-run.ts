import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hashOf } from '../proof/judge/log.js';
import { type LoggedEvent, type Raw, type Rows, readRaw } from '../proof/judge/raw.js';
import { KEPT_RUN, type KeptRun } from '../support/fixture/proof-run.js';

/** Notes whose documents are kept; they take most of the room. */
const NOTES = 2;

const LOG_LINES = 200;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The same events with the tail of each sealed text cut off, linked and hashed anew: the judge reads no sealed text. */
const shortened = ({ events, manifest }: Raw): Pick<Raw, 'events' | 'manifest'> => {
  const heads = new Map<string, string>();
  const linked = events.map((event) => {
    const text = JSON.stringify(event.data).replaceAll(/(sealed:[^"]{40})[^"]*/g, '$1');
    const before = heads.get(event.stream);
    const { hash: _hash, prevHash: _prevHash, ...meta } = event.meta;
    const next = {
      ...event,
      data: JSON.parse(text) as LoggedEvent['data'],
      meta: before === undefined ? meta : { ...meta, prevHash: before },
    };
    const hash = hashOf(next);
    heads.set(event.stream, hash);
    return { ...next, meta: { ...next.meta, hash } };
  });
  const streams = manifest.streams.map((stream) => ({ ...stream, hash: heads.get(stream.stream) ?? '' }));
  return { events: linked, manifest: { ...manifest, streams } };
};

/** Rows are compared and never read. */
const inShort = (rows: Rows): Rows =>
  Object.fromEntries(
    Object.entries(rows).map(([name, lines]) => [name, lines.map((line) => sha256(line).slice(0, 16))]),
  );

/**
 * `node --import tsx test/tools/proof-run.ts FOLDER` keeps the raw data of a run (`npm run proof -- --minutes 0.5 --out FOLDER`) for the
 * judge's tests, which plant faults in it.
 */
const [folder = ''] = process.argv.slice(2);
const whole = await readRaw(folder, (bytes) => createHash('sha256').update(bytes).digest('hex'));
const names = new Set(
  whole.documents
    .filter(({ from }) => from === 'service')
    .slice(0, NOTES)
    .map(({ of }) => of),
);
const ofNotes = whole.documents.filter(({ of }) => names.has(of));
const sent = ['DPS', 'pedRegEvento'].flatMap((kind) => whole.documents.find((one) => one.kind === kind) ?? []);
const canceled = whole.documents.find(({ kind }) => kind === 'evento')?.of;
const ofEvent = whole.documents.filter(({ kind, of }) => kind === 'evento' && of === canceled);
const { folder: _folder, ...rest } = whole;
const raw = {
  ...rest,
  ...shortened(whole),
  documents: [...new Set([...ofNotes, ...sent, ...ofEvent])],
  rows: { live: inShort(whole.rows.live), rebuilt: inShort(whole.rows.rebuilt) },
  serviceLog: whole.serviceLog.split('\n').slice(0, LOG_LINES).join('\n'),
};
const documents = Object.fromEntries(raw.documents.map(({ file }) => [file, readFileSync(join(folder, file), 'utf8')]));
const kept: KeptRun = { raw, documents };
writeFileSync(KEPT_RUN, gzipSync(JSON.stringify(kept), { level: 9 }));
