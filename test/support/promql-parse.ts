export type Matcher = { label: string; operator: string; value: string };

export type Node =
  | { kind: 'number'; value: number }
  | { kind: 'series'; name: string; matchers: readonly Matcher[]; rangeMinutes?: number }
  | { kind: 'call'; name: string; of: readonly Node[] }
  | { kind: 'aggregate'; name: string; by: readonly string[]; of: Node }
  | { kind: 'binary'; operator: string; on?: readonly string[]; left: Node; right: Node };

const TOKEN =
  /\s*(?:(?<text>"[^"]*")|(?<number>\d+(?:\.\d+)?)(?![a-z])|(?<range>\[\d+[mhd]\])|(?<word>[a-zA-Z_:][\w:]*)|(?<sign>=~|!~|!=|>=|<=|==|[-+*/<>=(){},]))/y;

const LEVELS: readonly (readonly string[])[] = [
  ['or'],
  ['and', 'unless'],
  ['==', '!=', '>=', '<=', '>', '<'],
  ['+', '-'],
  ['*', '/'],
];

const AGGREGATES = ['sum', 'min', 'max', 'count'];

const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1_440 };

/** Reads the part of PromQL that the alerting rules use, and throws at anything else. */
export const parsePromql = (text: string): Node => {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (): string | undefined => tokens[at];
  const next = (): string => tokens[at++] ?? fail('more');
  const fail = (wanted: string): never => {
    throw new Error(`${wanted} expected before ${tokens.slice(at, at + 4).join(' ')} in ${text}`);
  };
  const take = (token: string): boolean => (peek() === token ? ++at > 0 : false);
  const must = (token: string): void => void (take(token) || fail(token));
  const list = <T>(end: string, item: () => T): T[] => {
    const items: T[] = [];
    while (!take(end)) {
      items.push(item());
      take(',');
    }
    return items;
  };
  const labels = (): string[] => {
    must('(');
    return list(')', next);
  };

  const binary = (level: number): Node => {
    const operators = LEVELS[level];
    if (operators === undefined) return unary();
    let left = binary(level + 1);
    while (operators.includes(peek() ?? '')) {
      const operator = next();
      const on = take('on') ? { on: labels() } : {};
      left = { kind: 'binary', operator, ...on, left, right: binary(level + 1) };
    }
    return left;
  };
  const unary = (): Node => {
    if (take('(')) {
      const inside = binary(0);
      must(')');
      return inside;
    }
    if (take('-')) return { kind: 'number', value: -Number(next()) };
    const token = next();
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (AGGREGATES.includes(token)) {
      const by = take('by') ? labels() : [];
      must('(');
      const of = binary(0);
      must(')');
      return { kind: 'aggregate', name: token, by, of };
    }
    if (take('(')) return { kind: 'call', name: token, of: list(')', () => binary(0)) };
    return series(token);
  };
  const series = (name: string): Node => {
    const matchers = take('{')
      ? list('}', () => ({ label: next(), operator: next(), value: next().replaceAll('"', '') }))
      : [];
    const range = /^\[(\d+)([mhd])\]$/.exec(peek() ?? '');
    if (range === null) return { kind: 'series', name, matchers };
    at++;
    return { kind: 'series', name, matchers, rangeMinutes: Number(range[1]) * (MINUTES[range[2] ?? ''] ?? 0) };
  };

  const whole = binary(0);
  if (at < tokens.length) fail('an end');
  return whole;
};

const tokensOf = (text: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`what is this: ${text.slice(from)}`);
    tokens.push(match[0].trim());
  }
  return tokens;
};
