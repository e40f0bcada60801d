import { printable, printableLine } from '../../lib/printable.js';

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
