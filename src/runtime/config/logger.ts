import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { LRUCache } from 'lru-cache';
import { destination, type Logger, pino } from 'pino';
import { silenceCode } from '../../adapters/sql/errors.js';
import { type InvoiceId, parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import type { RequestSummary } from '../../http/deps.js';
import { errorCode } from '../../lib/error-code.js';
import { printable, printableLine } from '../../lib/printable.js';
import type { Config } from './config.js';

export type { Logger };

const FLUSH_MS = 100;
const BUFFER_BYTES = 4_096;
const WAITING_BYTES = 1_048_576;

/**
 * Makes a logger of JSON lines, or of lines for a person on a terminal. Lines hold named, harmless fields only. They are written in blocks, at most
 * 100 ms late, because a write per request would cost as much as the request.
 */
export const createLogger = (level: Config['logLevel'], stream: 'stdout' | 'stderr'): Logger => {
  if (level === 'silent') return pino({ level }, { write: () => undefined });
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (stream === 'stdout' && process.stdout.isTTY) {
    const colours = process.env.NO_COLOR === undefined;
    return pino(options, { write: (line) => void process.stdout.write(readableLine(line, colours)) });
  }
  return pino(options, blocksTo(stream));
};

/** Lines that cannot be written, as on a full disk, wait for room up to `WAITING_BYTES`; further lines are lost, and the process continues. */
const blocksTo = (stream: 'stdout' | 'stderr') => {
  const fd = stream === 'stdout' ? 1 : 2;
  const lines = destination({ fd, sync: true, minLength: BUFFER_BYTES, maxLength: WAITING_BYTES });
  let isFailing = false;
  let isTold = false;
  lines.on('error', (error: NodeJS.ErrnoException) => {
    isFailing = true;
    if (!isTold) process.stderr.write(`log lines cannot be written: ${error.message}\n`);
    isTold = true;
  });
  lines.on('write', () => {
    isFailing = false;
  });
  // While a disk is full the library's `flushSync` tries again without an end; pino calls it after each line of the level fatal.
  const flushAll = lines.flushSync.bind(lines);
  lines.flushSync = () => {
    lines.flush();
    if (!isFailing) flushAll();
  };
  setInterval(() => lines.flush(), FLUSH_MS).unref();
  process.on('exit', () => lines.flushSync());
  return lines;
};

/**
 * The fields of an error that may be logged: its class, its code and its place in this code. Texts of engines and libraries may quote data. An error
 * of a port gets the code of the engine's error that caused it.
 */
export const faultFields = (error: unknown): { error: string; code?: string; at?: string } => {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = firstCode(error);
  const at = placeIn(framesOf(error));
  return { error: error.name, ...(code === undefined ? {} : { code }), ...(at === undefined ? {} : { at }) };
};

const firstCode = (error: unknown): string | undefined =>
  error instanceof Error ? (errorCode(error) ?? silenceCode(error) ?? firstCode(error.cause)) : undefined;

/** The stack without the message in front of it, which may hold anything. */
const framesOf = ({ stack = '', message }: Error): string => {
  const begin = stack.indexOf(message);
  return begin < 0 ? stack : stack.slice(begin + message.length);
};

const FRAME = /^\s+at (?:.*\(|async )?(?:file:\/\/)?([^(]*\b((?:src|projections|chunks)\/[^):]+)):(\d+):(\d+)\)?$/;

/** A frame is no longer; the expression takes time with the square of a line's length. */
const LONGEST_FRAME = 1_000;

/** The first place of a stack in this code, as `src/app/x.ts:10:3`. Of a built file, which holds many sources, the map beside it tells which. */
const placeIn = (frames: string): string | undefined => {
  for (const frame of frames.split('\n')) {
    const [, file = '', path = '', line = '', column = ''] = (frame.length <= LONGEST_FRAME && FRAME.exec(frame)) || [];
    if (path === '') continue;
    const place = path.endsWith('.ts')
      ? `${path}:${line}:${column}`
      : placeInSource(file, Number(line), Number(column));
    if (place !== undefined) return place;
  }
  return undefined;
};

/** Places of a build by their sources. A map takes some ten milliseconds to parse, and a client can cause the same fault again and again. */
const knownPlaces = new LRUCache<string, { at: string | undefined }>({ max: 1_000 });

const placeInSource = (file: string, line: number, column: number): string | undefined => {
  const key = `${file}:${line}:${column}`;
  const known = knownPlaces.get(key) ?? { at: readPlace(file, line, column) };
  knownPlaces.set(key, known);
  return known.at;
};

const readPlace = (file: string, line: number, column: number): string | undefined => {
  try {
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload);
    const entry = map.findEntry(line - 1, column - 1);
    if (!('originalSource' in entry)) return undefined;
    const source = /(?:src|projections)\/.*$/.exec(entry.originalSource)?.[0];
    return source && `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  } catch {
    return undefined;
  }
};

/** The log line of a request. An invoice is shown by its public id. */
export const requestFields = ({ requestId, invoiceId, keyId, durationMs, ...summary }: RequestSummary) => ({
  request_id: requestId,
  ...summary,
  duration_ms: Math.round(durationMs * 1000) / 1000,
  ...(keyId === undefined ? {} : { key_id: keyId }),
  ...invoiceField(invoiceId),
});

/** The stream of a fault; an invoice also by its public id, any other by its beginning alone, because its name may hold a customer's CNPJ. */
export const streamFields = (stream: StreamName): { stream: string; invoice_id?: string } => {
  const address = parseInvoiceStream(stream);
  return address === undefined ? { stream: beginningOf(stream) } : { stream, ...invoiceField(address.invoiceId) };
};

const beginningOf = (stream: StreamName): string => `${stream.slice(0, stream.indexOf('-') + 1)}…`;

const invoiceField = (invoiceId: InvoiceId | undefined): { invoice_id?: string } =>
  invoiceId === undefined ? {} : { invoice_id: publicInvoiceId(invoiceId) };

const LEVELS: Readonly<Record<number, readonly [word: string, colour: string]>> = {
  10: ['trace', '2'],
  20: ['debug', '2'],
  30: ['info', '32'],
  40: ['warn', '33'],
  50: ['error', '31'],
  60: ['fatal', '31;1'],
};

const ADDRESSES: readonly (readonly [field: string, name: string, path: string])[] = [
  ['url', 'API', '/v1'],
  ['docs_url', 'documentation', ''],
  ['console_url', 'console', ''],
  ['ops_url', 'health and metrics', '/health/ready'],
  ['simulator_control_url', 'simulator control', ''],
];

/** One JSON line of the log as a person reads it on a terminal: time in UTC, level, message, fields. A line of another form stays as it is. */
export const readableLine = (line: string, colours: boolean): string => {
  const read = fieldsOf(line);
  if (read === undefined) return printable(line);
  const { time, level, msg, ...rest } = read;
  const [word, colour] = LEVELS[Number(level)] ?? ['', '0'];
  const shown = colours ? `\x1b[${colour}m${word.padEnd(5)}\x1b[0m` : word.padEnd(5);
  const beginning = `${printableLine(String(time).slice(11, 23))}  ${shown}  ${printableLine(String(msg))}`;
  if (msg === 'ready') return `${[beginning, ...addresses(rest)].join('\n')}\n`;
  const fields = Object.entries(rest).map(([name, value]) => printableLine(`${name}=${textOf(value)}`));
  return `${[beginning, ...fields].join('  ')}\n`;
};

const fieldsOf = (line: string): Record<string, unknown> | undefined => {
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === 'object' && read !== null && 'msg' in read ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

const addresses = (fields: Readonly<Record<string, unknown>>): readonly string[] =>
  ADDRESSES.flatMap(([field, name, path]) => {
    const address = fields[field];
    return typeof address === 'string' && address !== ''
      ? [printableLine(`    ${name.padEnd(20)}${address}${path}`)]
      : [];
  });

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
