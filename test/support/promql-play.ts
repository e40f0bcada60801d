import type { Rule } from './alert-rules.js';
import { type Matcher, type Node, parsePromql } from './promql-parse.js';

/** A series with one scrape a minute; undefined where its process was not scraped. */
export type Played = {
  name: string;
  labels: Readonly<Record<string, string>>;
  values: readonly (number | undefined)[];
};

type Labels = Readonly<Record<string, string>>;
type Sample = { labels: Labels; value: number };

type Firing = { alert: string; labels: Labels; severity: string };

/** The alerts of these rules that fire at the minute, with their labels. */
export const firing = (rules: readonly Rule[], played: readonly Played[], minute: number): readonly Firing[] =>
  rules.flatMap((rule) => {
    const expression = parsePromql(rule.expr);
    const lasts = minutesOf(rule.for ?? '0m');
    const found = Array.from({ length: lasts + 1 }, (_, back) => vectorOf(expression, played, minute - back));
    const [now = [], ...before] = found;
    return now
      .filter(({ labels }) => before.every((then) => then.some((one) => sameLabels(one.labels, labels))))
      .map(({ labels, value }) => ({
        alert: rule.alert,
        severity: rendered(rule.labels.severity, labels),
        labels: {
          ...labels,
          ...(rule.labels.seen === VALUE && { seen: value.toFixed() }),
          ...(rule.labels.count === VALUE && { count: value.toFixed() }),
        },
      }));
  });

/** The samples that the expression has at the minute, as Prometheus would say. */
export const resultAt = (expression: string, played: readonly Played[], minute: number): readonly Sample[] =>
  vectorOf(parsePromql(expression), played, minute);

/** The only template of a label besides. */
const VALUE = '{{ printf "%.0f" $value }}';

/** The only template that a severity has. */
const rendered = (severity: string, { mode }: Labels): string => {
  const byMode = /^\{\{ if eq \$labels\.mode "(\w+)" \}\}(\w+)\{\{ else \}\}(\w+)\{\{ end \}\}$/.exec(severity);
  return byMode === null ? severity : ((mode === byMode[1] ? byMode[2] : byMode[3]) ?? '');
};

const minutesOf = (duration: string): number => {
  const [, count = '0', unit = ''] = /^(\d+)([smh])$/.exec(duration) ?? [];
  return Math.ceil(Number(count) * ({ s: 1 / 60, m: 1, h: 60 }[unit] ?? 0));
};

const vectorOf = (node: Node, played: readonly Played[], minute: number): readonly Sample[] => {
  switch (node.kind) {
    case 'number':
      return [{ labels: {}, value: node.value }];
    case 'series':
      return played
        .filter((one) => isAskedFor(node, one))
        .flatMap(({ labels, values }) => {
          const value = values[minute];
          return value === undefined ? [] : [{ labels, value }];
        });
    case 'aggregate':
      return aggregated(node.name, node.by, vectorOf(node.of, played, minute));
    case 'call':
      return called(node, played, minute);
    case 'binary':
      return combined(node, vectorOf(node.left, played, minute), vectorOf(node.right, played, minute));
  }
};

const isAskedFor = ({ name, matchers }: Node & { kind: 'series' }, series: Played): boolean =>
  series.name === name && matchers.every((matcher) => matches(matcher, series.labels[matcher.label] ?? ''));

const matches = ({ operator, value }: Matcher, found: string): boolean =>
  (operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(found) : found === value) !== operator.startsWith('!');

const REDUCED: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
};

const aggregated = (name: string, by: readonly string[], samples: readonly Sample[]): readonly Sample[] => {
  const reduce = REDUCED[name];
  if (reduce === undefined) throw new Error(`no aggregate: ${name}`);
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const group = JSON.stringify(by.map((label) => sample.labels[label]));
    groups.set(group, [...(groups.get(group) ?? []), sample]);
  }
  return [...groups.values()].map((group) => ({
    labels: only(group[0]?.labels ?? {}, by),
    value: reduce(group.map(({ value }) => value)),
  }));
};

const only = (labels: Labels, kept: readonly string[]): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => kept.includes(label)));

const called = (
  { name, of }: Node & { kind: 'call' },
  played: readonly Played[],
  minute: number,
): readonly Sample[] => {
  const [first, second] = of;
  if (first?.kind !== 'series') throw new Error(`${name} of something other than series`);
  if (name === 'absent') {
    if (vectorOf(first, played, minute).length > 0) return [];
    const equal = first.matchers.filter(({ operator }) => operator === '=');
    return [{ labels: Object.fromEntries(equal.map(({ label, value }) => [label, value])), value: 1 }];
  }
  const { rangeMinutes = 0 } = first;
  const seconds = second?.kind === 'number' ? second.value : 0;
  return played
    .filter((one) => isAskedFor(first, one))
    .flatMap(({ labels, values }) => {
      const from = Math.max(0, minute - rangeMinutes + 1);
      const points = values
        .slice(from, minute + 1)
        .flatMap((value, index) => (value === undefined ? [] : [{ at: (from + index - minute) * 60, value }]));
      const overTime = OVER_TIME[name];
      if (overTime !== undefined) {
        return points.length === 0 ? [] : [{ labels, value: overTime(points.map(({ value }) => value)) }];
      }
      if (points.length < 2) return [];
      if (name === 'increase') return [{ labels, value: increase(points, rangeMinutes * 60) }];
      if (name === 'rate') return [{ labels, value: increase(points, rangeMinutes * 60) / (rangeMinutes * 60) }];
      if (name === 'predict_linear') return [{ labels, value: lineAt(points, seconds) }];
      throw new Error(`no function: ${name}`);
    });
};

const OVER_TIME: Readonly<Record<string, (values: readonly number[]) => number>> = {
  max_over_time: (values) => Math.max(...values),
  min_over_time: (values) => Math.min(...values),
  last_over_time: (values) => values.at(-1) ?? 0,
};

type Point = { at: number; value: number };

/** As Prometheus reaches from the first and last scrape to the ends of the window, and starts no counter below 0. */
const increase = (points: readonly Point[], windowSeconds: number): number => {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const grown = points.slice(1).reduce((sum, { value }, index) => {
    const before = points[index]?.value ?? 0;
    return sum + (value < before ? value : value - before);
  }, 0);
  const covered = last.at - first.at;
  const between = covered / (points.length - 1);
  const near = between * 1.1;
  const toStart = first.at + windowSeconds;
  const toZero = grown > 0 ? covered * (first.value / grown) : toStart;
  const before = Math.min(toStart < near ? toStart : between / 2, toZero);
  const after = -last.at < near ? -last.at : between / 2;
  return grown * ((covered + before + after) / covered);
};

/** Least squares. */
const lineAt = (points: readonly Point[], seconds: number): number => {
  const count = points.length;
  const [meanAt, meanValue] = [
    points.reduce((sum, { at }) => sum + at, 0) / count,
    points.reduce((sum, { value }) => sum + value, 0) / count,
  ];
  const spread = points.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0);
  const slope = points.reduce((sum, { at, value }) => sum + (at - meanAt) * (value - meanValue), 0) / spread;
  return meanValue + slope * (seconds - meanAt);
};

const COMPARED: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  '==': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '>': (one, other) => one > other,
  '<': (one, other) => one < other,
  '>=': (one, other) => one >= other,
  '<=': (one, other) => one <= other,
};

const COMPUTED: Readonly<Record<string, (one: number, other: number) => number>> = {
  '+': (one, other) => one + other,
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
};

const combined = (
  { operator, on, left: leftNode, right: rightNode }: Node & { kind: 'binary' },
  left: readonly Sample[],
  right: readonly Sample[],
): readonly Sample[] => {
  const key = (labels: Labels): Labels => (on === undefined ? labels : only(labels, on));
  const partner = ({ labels }: Sample, others: readonly Sample[]) =>
    others.find((other) => sameLabels(key(other.labels), key(labels)));
  if (operator === 'or') return [...left, ...right.filter((one) => partner(one, left) === undefined)];
  if (operator === 'and') return left.filter((one) => partner(one, right) !== undefined);
  if (operator === 'unless') return left.filter((one) => partner(one, right) === undefined);
  if (leftNode.kind === 'number') throw new Error('a number stands on the left');
  const other = (one: Sample) => (rightNode.kind === 'number' ? rightNode.value : partner(one, right)?.value);
  const compare = COMPARED[operator];
  const compute = COMPUTED[operator];
  return left.flatMap((one) => {
    const value = other(one);
    if (value === undefined) return [];
    if (compare !== undefined) return compare(one.value, value) ? [one] : [];
    if (compute === undefined) throw new Error(`no operator: ${operator}`);
    return [{ labels: one.labels, value: compute(one.value, value) }];
  });
};

const sameLabels = (one: Labels, other: Labels): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([label, value]) => other[label] === value);
