type Sample = { name: string; labels: Readonly<Record<string, string>>; value: number };

/** The metrics of a service, parsed from `/metrics` as Prometheus does. */
export type ShownMetrics = {
  samples: readonly Sample[];
  /** By the name on its `# TYPE` line. */
  types: ReadonlyMap<string, string>;
  helps: ReadonlySet<string>;
  /** The sum over all series that have these labels; undefined when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
};

export const readMetrics = (text: string): ShownMetrics => {
  const lines = text.split('\n');
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(toSample);
  return {
    samples,
    types: new Map(lines.flatMap((line) => pairOf(/^# TYPE (\S+) (\S+)$/.exec(line)))),
    helps: new Set(lines.flatMap((line) => /^# HELP (\S+) \S/.exec(line)?.[1] ?? [])),
    value: (name, labels = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          // To Prometheus a label that is not there is an empty one.
          Object.entries(labels).every(([label, value]) => (sample.labels[label] ?? '') === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
};

export const scrape = async (opsUrl: string): Promise<ShownMetrics> => {
  const response = await fetch(`${opsUrl}/metrics`);
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  return readMetrics(await response.text());
};

const toSample = (line: string): Sample => {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  const [, name, labels = '', value] = match ?? [];
  if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`);
  return {
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text])),
    value: value === '+Inf' ? Number.POSITIVE_INFINITY : value === 'Nan' ? Number.NaN : Number(value),
  };
};

const pairOf = (match: RegExpExecArray | null): [string, string][] => {
  const [, name, type] = match ?? [];
  return name === undefined || type === undefined ? [] : [[name, type]];
};
