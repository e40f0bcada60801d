import { atMost, type Chart, type Line, type Row } from '../report.js';
import { median } from '../rounds.js';
import { type Route, routes } from './traffic.js';

/** One window of the soak. `times`: milliseconds; `underWay`: invoices without their documents yet; `depth`: work items of the service. */
export type Sample = {
  minute: number;
  rssMb: number;
  times: Readonly<Record<Route, readonly number[]>>;
  underWay: number;
  depth: number;
  lagSeconds: number;
  refused: number;
};

export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

/** Of these windows together. */
const quantileOf = (samples: readonly Sample[], route: Route, part: number): number =>
  quantile(
    samples.flatMap(({ times }) => times[route]),
    part,
  );

/** Of the windows, which are left out: caches fill and compilers finish. */
const WARM_UP = 1 / 6;

/** The most that the second half may be of the first: of memory, and of times and queues. */
const MEMORY = 1.1;
const OTHER = 1.25;
/** Differences below these say nothing: milliseconds, and invoices or work items. */
const NO_MATTER = { ms: 3, count: 10 };

/**
 * The rule of "flat": without the first sixth of the windows, the second half is at most 1.1 of the first for the median of memory, and 1.25 for
 * p50 and p99 of each route and for the median of the queues, where less than 3 ms or 10 invoices more do not count; and no answer was refused.
 */
export const flatRows = (samples: readonly Sample[]): readonly Row[] => {
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP));
  const middle = Math.floor(warm.length / 2);
  const [first, second] = [warm.slice(0, middle), warm.slice(middle)];
  if (first.length === 0) throw new Error('a soak needs more windows');
  type Figure = { name: string; unit: string; most: number; ignored: number; of(half: readonly Sample[]): number };
  const row = ({ name, unit, most, ignored, of }: Figure): Row => {
    const [before, after] = [of(first), of(second)];
    const ratio = after - before < ignored ? Math.min(1, after / Math.max(before, Number.MIN_VALUE)) : after / before;
    return {
      name: `soak: ${name}`,
      figure: `${after.toFixed(1)} ${unit}`,
      floor: `${before.toFixed(1)} ${unit}`,
      ratio,
      aim: atMost(most, ratio),
      mustHold: true,
      detail: 'second half, beside the first',
    };
  };
  const medianOf =
    (of: (sample: Sample) => number) =>
    (half: readonly Sample[]): number =>
      median(half.map(of));
  const waiting = { most: OTHER, ignored: NO_MATTER.count };
  const refused = samples.reduce((sum, sample) => sum + sample.refused, 0);
  return [
    row({ name: 'memory', unit: 'MB', most: MEMORY, ignored: 0, of: medianOf(({ rssMb }) => rssMb) }),
    ...routes.flatMap((route) =>
      [0.5, 0.99].map((part) =>
        row({
          name: `${route}, p${part * 100}`,
          unit: 'ms',
          most: OTHER,
          ignored: NO_MATTER.ms,
          of: (half) => quantileOf(half, route, part),
        }),
      ),
    ),
    row({ ...waiting, name: 'under way', unit: 'invoices', of: medianOf(({ underWay }) => underWay) }),
    row({ ...waiting, name: 'queue', unit: 'work items', of: medianOf(({ depth }) => depth) }),
    {
      name: 'soak: refused',
      figure: `${refused} answers`,
      aim: atMost(0, refused),
      mustHold: true,
      detail: 'of all windows',
    },
  ];
};

/** In a few words: flat, or what is not. */
export const verdictOf = (rows: readonly Row[]): string => {
  const missed = rows.flatMap(({ name, mustHold, aim }) => (mustHold === true && aim?.met === false ? [name] : []));
  return missed.length === 0 ? 'memory, latency and queue are flat' : `NOT flat: ${missed.join(', ')}`;
};

const line = (label: string, samples: readonly Sample[], of: (sample: Sample) => number): Line => ({
  label,
  points: samples.map((sample) => [sample.minute, of(sample)] as const),
});

export const soakCharts = (samples: readonly Sample[]): readonly Chart[] => {
  const over = { kind: 'lines', xTitle: 'minutes', logX: false } as const;
  return [
    {
      ...over,
      name: 'soak-memory',
      title: 'Memory of the service under load',
      unit: 'MB',
      lines: [line('resident', samples, ({ rssMb }) => rssMb)],
    },
    {
      ...over,
      name: 'soak-latency',
      title: 'p99 by route under load',
      unit: 'ms',
      lines: routes.map((route) => line(route, samples, ({ times }) => quantile(times[route], 0.99))),
    },
    {
      ...over,
      name: 'soak-queue',
      title: 'What waits under load',
      unit: '',
      lines: [
        line('invoices under way', samples, ({ underWay }) => underWay),
        line('work items', samples, ({ depth }) => depth),
      ],
    },
  ];
};
