import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { allProjections } from '../../projections/registry.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { dump } from '../support/harness/projector.js';
import { drawsOf } from './draws.js';
import type { DocumentFile, Exchange, LoggedEvent, Raw, Replay, Rows } from './judge/raw.js';
import { STEPPED_BY_MS } from './judge/sends.js';
import { runNfse } from './program.js';
import { readLines } from './read-lines.js';

type Env = Readonly<Record<string, string>>;

/** Documents of the log by event type: kind, field, and what names the document. */
const IN_LOG: Readonly<Record<string, { kind: DocumentFile['kind']; field: string }>> = {
  IssuanceAttempted: { kind: 'DPS', field: 'signedDpsGzip' },
  Authorized: { kind: 'NFSe', field: 'nfseXmlGzip' },
  CancellationAttempted: { kind: 'pedRegEvento', field: 'signedRequestGzip' },
  CancellationConfirmed: { kind: 'evento', field: 'eventXmlGzip' },
};

/** Writes every signed document of the log, opened by the operator's own command, and those of the authorizer's ledger. */
export const keepDocuments = async (
  folder: string,
  ledgers: readonly string[],
  env: Env,
): Promise<readonly DocumentFile[]> => {
  const revealed = join(folder, 'revealed.ndjson');
  await runNfse(['events', 'export', '--reveal', '--replace', '--out', revealed], env);
  const documents: DocumentFile[] = [];
  const keep = async (
    from: DocumentFile['from'],
    kind: DocumentFile['kind'],
    of: string,
    gzip: string,
  ): Promise<void> => {
    const file = join('documents', `${documents.length}.${from}.${kind}.xml`);
    documents.push({ file, kind, of, from });
    await writeFile(join(folder, file), gunzipSync(Buffer.from(gzip, 'base64')));
  };
  const keys = new Map<string, string>();
  for (const event of await readLines<LoggedEvent & { revealed?: Record<string, unknown> }>(revealed)) {
    const { type, stream, data } = event;
    if (type === 'Authorized') keys.set(stream, String(data.accessKey));
    const place = IN_LOG[type];
    const gzip = place === undefined ? undefined : event.revealed?.[place.field];
    if (place === undefined || typeof gzip !== 'string') continue;
    const mode = stream.startsWith('nfseTest') ? 'test' : 'live';
    const of = place.kind === 'DPS' ? String(data.dpsId) : (keys.get(stream) ?? stream);
    await keep('log', place.kind, `${mode} ${of}`, gzip);
  }
  for (const ledger of ledgers)
    for (const line of await readLines<{ kind: string; accessKey: string; document: string }>(join(folder, ledger)))
      if (line.kind !== 'numbers')
        await keep(
          'authorizer',
          line.kind === 'note' ? 'NFSe' : 'evento',
          `${ledger.includes('test') ? 'test' : 'live'} ${line.accessKey}`,
          line.document,
        );
  await Promise.all([rm(revealed), rm(`${revealed}.manifest.json`)]);
  return documents;
};

const QUIET_MS = 3_000;
const QUIET_WITHIN_MS = 120_000;
const MOST_COMPARISONS = 5;

type Status = { projections: readonly { name: string; lag_s: number }[] };

/** Rows as they are read and as a rebuild makes them from the log; undefined when the log never came to rest. */
export const keepRows = async (env: Env, databaseUrl: string): Promise<{ live: Rows; rebuilt: Rows } | undefined> => {
  const pool = openPool({ connectionString: databaseUrl, max: 1, applicationName: 'proof', statementTimeoutMs: 0 });
  try {
    // A worker may still append, for instance that it has opened a certificate for a look-up.
    for (let comparisons = 0; comparisons < MOST_COMPARISONS; comparisons += 1) {
      const resting = await untilQuiet(env);
      const live = await dumpAll(pool);
      await runNfse(['projections', 'rebuild', '--all'], env);
      const rebuilt = await dumpAll(pool);
      if ((await lastPosition(env)) === resting) return { live, rebuilt };
    }
    return undefined;
  } finally {
    await pool.end();
  }
};

const dumpAll = async (pool: ReturnType<typeof openPool>): Promise<Rows> => {
  const rows: Record<string, readonly string[]> = {};
  for (const projection of allProjections) rows[projection.name] = await dump(pool, projection);
  return rows;
};

/** The last event that a projection could fold: acts of operators on the service itself are none of them. */
const lastPosition = async (env: Env): Promise<string | undefined> => {
  const { events } = (await runNfse(['events', 'tail', '--limit', '20'], env)) as { events: readonly LoggedEvent[] };
  return events.filter(({ stream }) => !/^(?:audit|anchor)-/.test(stream)).at(-1)?.position;
};

const untilQuiet = async (env: Env): Promise<string | undefined> => {
  const until = Date.now() + QUIET_WITHIN_MS;
  for (let before: string | undefined; ; ) {
    const now = await lastPosition(env);
    const { projections } = (await runNfse(['projections', 'status'], env)) as Status;
    if (now === before && projections.every(({ lag_s: lag }) => lag === 0)) return now;
    if (Date.now() > until) throw new Error('the projections do not catch up');
    before = now;
    await pause(QUIET_MS);
  }
};

/** An event is on its way from the instant that it bears until its append is over. */
const APPEND_TAKES_MS = 8_000;

/**
 * Asks for the invoice as it was at instants between two equal answers, when no event was on its way, so that exactly one body is right.
 * Half of the instants lie before the outcome, as far as there are any. None lies near a step of the service's clock, which its events bear.
 */
export const keepReplays = async (
  seed: number,
  most: number,
  { http, events, mishaps }: Pick<Raw, 'http' | 'events' | 'mishaps'>,
  env: Env,
): Promise<readonly Replay[]> => {
  const steps = mishaps
    .filter(({ kind }) => kind === 'clock_step')
    .map(({ at, until }) => ({ from: Date.parse(at) - STEPPED_BY_MS, to: Date.parse(until) + STEPPED_BY_MS }));
  const eventTimes = new Map<string, number[]>();
  for (const { stream, at } of events) {
    const id = `nfse_${stream.slice(-36)}`;
    eventTimes.set(id, [...(eventTimes.get(id) ?? []), Date.parse(at)]);
  }
  const last = new Map<string, Exchange>();
  const pairs: { id: string; at: string; polled: unknown; isOpen: boolean }[] = [];
  for (const exchange of http) {
    const { method, path, status, answer } = exchange;
    if (method !== 'GET' || status !== 200 || !/^\/v1\/nfse\/nfse_[0-9a-f-]{36}$/.test(path) || answer === undefined)
      continue;
    const id = String(answer.id);
    const before = last.get(id);
    last.set(id, exchange);
    if (before === undefined || before.ended >= exchange.began) continue;
    if (!isDeepStrictEqual(withoutLinks(before.answer), withoutLinks(answer))) continue;
    const [from, to] = [Date.parse(before.began) - APPEND_TAKES_MS, Date.parse(exchange.ended)];
    const times = eventTimes.get(id) ?? [];
    if (times.some((at) => from < at && at < to)) continue;
    if (steps.some((step) => [from, to, ...times].some((at) => step.from < at && at < step.to))) continue;
    const isOpen = answer.status === 'queued' || answer.status === 'processing';
    pairs.push({ id, at: before.ended, polled: before.answer, isOpen });
  }
  const draws = drawsOf(seed, 'replays');
  const drawn = (isOpen: boolean, count: number) =>
    draws.shuffled(pairs.filter((pair) => pair.isOpen === isOpen).slice(-2_000)).slice(0, count);
  const open = drawn(true, Math.floor(most / 2));
  const replays: Replay[] = [];
  for (const { id, at, polled } of [...open, ...drawn(false, most - open.length)]) {
    const { invoice } = (await runNfse(['audit', 'replay', id, '--at', at], env)) as { invoice: unknown };
    replays.push({ id, at, replayed: invoice, polled });
  }
  return replays;
};

const withoutLinks = (body: unknown): unknown => {
  const { links: _links, ...rest } = (body ?? {}) as Record<string, unknown>;
  return rest;
};

/** The service's own audit of chains, shapes, invariants and documents; a line for each of its findings. */
export const auditOf = async (env: Env): Promise<readonly string[]> => {
  const asked = await runNfse(['audit', 'verify', '--documents'], env, (code) => code === 0 || code === 1);
  const { findings } = asked as { findings: readonly { kind: string; stream?: string; detail: string }[] };
  return findings.map(({ kind, stream = '', detail }) => `audit verify: ${kind} ${stream} ${detail}`);
};
