import type { FloodResult } from './hostile-flood-process.js';
import type { HostileAnswer } from './hostile-service-process.js';
import { type Route, type Times, watchedRoutes } from './hostile-watch.js';
import { atMost, type Row } from './report.js';

/** All phases of one kind together. */
export type Seen = { times: Times; flood: FloodResult; service: HostileAnswer };

export const nothingSeen = (): Seen => ({
  times: { GET: [], XML: [], POST: [], PDF: [], refused: 0 },
  flood: { sent: 0, milliseconds: 0, statuses: {} },
  service: { longestMs: 0, collectorMs: 0, rssMb: 0, processorSeconds: 0 },
});

/** `phase`: one more phase, whose times are already in `seen`. */
export const addPhase = (seen: Seen, service: HostileAnswer, flood?: FloodResult): void => {
  seen.service = {
    longestMs: Math.max(seen.service.longestMs, service.longestMs),
    collectorMs: Math.max(seen.service.collectorMs, service.collectorMs),
    rssMb: Math.max(seen.service.rssMb, service.rssMb),
    processorSeconds: seen.service.processorSeconds + service.processorSeconds,
  };
  if (flood === undefined) return;
  const statuses: Record<string, number> = { ...seen.flood.statuses };
  for (const [status, count] of Object.entries(flood.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  seen.flood = {
    sent: seen.flood.sent + flood.sent,
    milliseconds: seen.flood.milliseconds + flood.milliseconds,
    statuses,
  };
};

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;

const p99 = (values: readonly number[]): number => quantile(values, 0.99);
const p50 = (values: readonly number[]): number => quantile(values, 0.5);

export const quietRows = (quiet: Seen): readonly Row[] => [
  ...watchedRoutes.map((route) => ({
    name: `quiet: ${route}`,
    figure: `${p99(quiet.times[route]).toFixed(1)} ms p99`,
    detail: samplesOf(quiet, route),
  })),
  serviceRow('quiet', quiet),
];

const AIM = 2;

/** `beside`: while the same cores were flooded with work that is not the service's. */
export const floodedRows = (name: string, seen: Seen, quiet: Seen, beside: Seen | undefined): readonly Row[] => [
  ...watchedRoutes.map((route) => {
    const ratioTo = (before: Seen): number => p99(seen.times[route]) / p99(before.times[route]);
    const ratio = ratioTo(quiet);
    return {
      name: `${name}: the other's ${route}`,
      figure: `${p99(seen.times[route]).toFixed(1)} ms p99`,
      ratio,
      aim: atMost(AIM, ratio),
      detail: `${samplesOf(seen, route)}${beside === undefined || beside === seen ? '' : `; ${ratioTo(beside).toFixed(2)} of p99 beside another server`}`,
    };
  }),
  serviceRow(name, seen),
];

const samplesOf = ({ times }: Seen, route: Route): string =>
  `p50 ${p50(times[route]).toFixed(1)} ms; ${times[route].length} samples${times.refused === 0 ? '' : `; ${times.refused} OF ALL ROUTES REFUSED`}`;

const serviceRow = (name: string, { service, flood }: Seen): Row => {
  const answers = Object.entries(flood.statuses).map(([status, count]) => `${count} times ${status}`);
  const perSecond = (flood.sent / flood.milliseconds) * 1_000;
  const rate = flood.sent === 0 ? '' : `; flooded with ${perSecond.toFixed(0)} requests/s: ${answers.join(', ')}`;
  return {
    name: `  ${name}: the service`,
    figure: `${service.longestMs.toFixed(0)} ms`,
    detail:
      `longest block of the event loop, of which the collector ${service.collectorMs.toFixed(0)} ms; ` +
      `${service.rssMb.toFixed(0)} MB, ${service.processorSeconds.toFixed(1)} s of processor${rate}`,
  };
};
