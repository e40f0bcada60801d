import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { epochMs } from '../../src/domain/common/time.js';
import { fromRecord } from '../../src/domain/log/record.js';
import type { Row } from './report.js';
import { median } from './rounds.js';
import { measureWay, type Spent } from './way.js';

/** Of one invoice, in ms. */
type Stages = {
  /** Processor time by process. */
  processes: Spent;
  /** Time of the service's event loop by what it did, which includes times at which other processes had its core; the largest first. */
  loop: Readonly<Record<string, number>>;
  /** Elapsed between the times of its events, medians. Invoices are posted faster than they are issued, so the first is mostly the wait for a turn. */
  elapsed: Readonly<Record<'acceptedToNumber' | 'numberToAttempt' | 'attemptToAnswer', number>>;
};

/** Where each millisecond of an invoice goes on its way, by a profile of the service and by the times of the events in its log. */
export const benchStages = async (): Promise<readonly Row[]> => rowsOf(await measureStages());

const measureStages = async (): Promise<Stages> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-profile-'));
  try {
    let elapsed: Stages['elapsed'] | undefined;
    const rounds = await measureWay({
      serviceFlags: ['--cpu-prof', `--cpu-prof-dir=${folder}`],
      afterwards: async (db) => {
        elapsed = await elapsedIn(db);
      },
    });
    if (elapsed === undefined) throw new Error('nothing was measured');
    const invoices = rounds.reduce((sum, round) => sum + round.invoices, 0);
    const of = (part: keyof Spent): number => rounds.reduce((sum, { spent }) => sum + spent[part], 0) / invoices;
    const processes: Spent = {
      serviceLoop: of('serviceLoop'),
      serviceThreads: of('serviceThreads'),
      postgres: of('postgres'),
      simulator: of('simulator'),
      clients: of('clients'),
    };
    return { processes, loop: loopTimes(await profileIn(folder), rounds, invoices), elapsed };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Of the event loop: which part of the code a stack belongs to, by its innermost frame of ours that is named here. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/\/src\/(?:http|app\/accept)\//, 'accept'],
  [/\/src\/(?:projector|adapters\/read-model-postgres)\/|\/projections\//, 'project'],
  [/\/src\/(?:workers\/relay|adapters\/(?:queue-|eventlog-postgres\/(?:tail|subscription)))/, 'relay'],
  [/\/src\/app\/issuing\/allocate-number/, 'take a number'],
  [
    /\/src\/(?:domain\/dps\/|adapters\/authorizer\/document-signer|xml\/(?:sign|schema|document|bounds))/,
    'build, check, sign',
  ],
  [
    /\/src\/(?:adapters\/authorizer\/|lib\/thread-pool|runtime\/engines\/authorizers|xml\/packing)/,
    'send, hand the answer over',
  ],
  [/\/src\/adapters\/eventlog-postgres\/(?:group-commit|prepared-append)/, 'append'],
  [/\/src\/adapters\/eventlog-postgres\/|\/src\/domain\/log\/record/, 'read the log'],
  [/\/src\/app\/event-store\/|\/src\/domain\/log\/|\/src\/adapters\/vault\//, 'seal, hash, open'],
  [/\/src\/(?:app\/issuing|domain\/invoice)\//, 'protocol'],
  [/\/src\/runtime\/metrics\//, 'count'],
  [/\/node_modules\/pg/, 'driver of PostgreSQL'],
  [/^node:(?:_http|https|net|_tls|internal\/stream)/, 'sockets'],
];

/** Line and column count from 0. */
type CallFrame = { functionName: string; url: string; lineNumber: number; columnNumber: number };
type ProfileNode = { id: number; callFrame: CallFrame; children?: readonly number[] };
type Profile = {
  nodes: readonly ProfileNode[];
  samples: readonly number[];
  timeDeltas: readonly number[];
  startTime: number;
};

/** The largest file is the main thread's. */
const profileIn = async (folder: string): Promise<Profile> => {
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  const [largest] = texts.sort((a, b) => b.length - a.length);
  if (largest === undefined) throw new Error('the service has left no profile');
  return JSON.parse(largest);
};

type Window = { begunAt: number; endedAt: number };

const loopTimes = (profile: Profile, windows: readonly Window[], invoices: number): Stages['loop'] => {
  const partOf = partsOf(profile.nodes);
  const spent = new Map<string, number>();
  let at = profile.startTime;
  for (const [index, node] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] ?? 0;
    at += micros;
    const part = partOf.get(node);
    if (part === undefined || !windows.some(({ begunAt, endedAt }) => at >= begunAt && at <= endedAt)) continue;
    spent.set(part, (spent.get(part) ?? 0) + micros / 1_000 / invoices);
  }
  return Object.fromEntries([...spent].sort(([, a], [, b]) => b - a));
};

/** Tells the source of built code by the source map beside each built file. Code of Node has its own url. */
const sourceFinder = (): ((frame: CallFrame) => string) => {
  const maps = new Map<string, SourceMap | undefined>();
  return ({ url, lineNumber, columnNumber }) => {
    if (!url.startsWith('file:')) return url;
    if (!maps.has(url)) maps.set(url, mapOf(`${fileURLToPath(url)}.map`));
    const entry = maps.get(url)?.findEntry(lineNumber, columnNumber);
    return entry !== undefined && 'originalSource' in entry ? entry.originalSource : url;
  };
};

const mapOf = (path: string): SourceMap | undefined =>
  existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined;

/** The part of each node of the tree of calls; none for a loop that waits. */
const partsOf = (nodes: readonly ProfileNode[]): ReadonlyMap<number, string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const sourceOf = sourceFinder();
  const visit = (node: ProfileNode, outer: string): void => {
    const { functionName } = node.callFrame;
    if (functionName === '(idle)') return;
    const source = sourceOf(node.callFrame);
    const own =
      functionName === '(garbage collector)' ? 'collect garbage' : PARTS.find(([path]) => path.test(source))?.[1];
    // A driver or a socket under a part of ours works for that part.
    const part = own === undefined || (FOREIGN.has(own) && outer !== OTHER) ? outer : own;
    parts.set(node.id, part);
    for (const child of node.children ?? []) {
      const below = byId.get(child);
      if (below !== undefined) visit(below, part);
    }
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, OTHER);
  return parts;
};

const OTHER = 'other';
const FOREIGN: ReadonlySet<string> = new Set(['driver of PostgreSQL', 'sockets']);

const LAST_EVENTS = 10_000;

const elapsedIn = async (db: pg.Pool): Promise<Stages['elapsed']> => {
  const { rows } = await db.query<{ record: string; hash: string }>(
    'select record, hash from event_log order by position desc limit $1',
    [LAST_EVENTS],
  );
  const times = new Map<string, Partial<Record<string, number>>>();
  for (const row of rows) {
    const { stream, type, data, metadata } = fromRecord(row);
    const invoice = type === 'DpsNumberAllocated' ? String(data.invoiceId) : stream.slice(stream.indexOf('_') + 1);
    const at = type === 'Authorized' ? String(data.at) : (metadata.recordedAt ?? '');
    times.set(invoice, { ...times.get(invoice), [type]: epochMs(at) });
  }
  const between = (from: string, to: string): number =>
    median(
      [...times.values()].flatMap((of) => {
        const [begun, ended] = [of[from], of[to]];
        return begun === undefined || ended === undefined ? [] : [ended - begun];
      }),
    );
  return {
    acceptedToNumber: between('InvoiceAccepted', 'DpsNumberAllocated'),
    numberToAttempt: between('DpsNumberAllocated', 'IssuanceAttempted'),
    attemptToAnswer: between('IssuanceAttempted', 'Authorized'),
  };
};

const rowsOf = ({ processes, loop, elapsed }: Stages): readonly Row[] => {
  const ms = (values: Readonly<Record<string, number>>, digits: number): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
      .join(', ');
  const sum = (values: Readonly<Record<string, number>>): string =>
    `${Object.values(values)
      .reduce((total, value) => total + value, 0)
      .toFixed(2)} ms`;
  return [
    { name: 'stages: processor of an invoice', figure: sum(processes), detail: ms(processes, 2) },
    { name: "  the service's event loop", figure: sum(loop), detail: ms(loop, 2) },
    { name: '  elapsed, medians in ms', figure: '', detail: ms(elapsed, 0) },
  ];
};
