import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Makes the metrics of one registry. Without label names a metric is one series. */
export const seriesIn = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Counter<Label>({ name, help, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Gauge<Label>({ name, help, labelNames, registers }),
    /** `buckets` in seconds. */
    durations: <Label extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly Label[] = [],
    ) => new Histogram<Label>({ name, help, labelNames, buckets, registers }),
  };
};

/** Makes metrics of the registry that all parts of a process share. */
export type Series = ReturnType<typeof seriesIn>;
