import { isDeepStrictEqual } from 'node:util';
import type { Finding } from './finding.js';
import type { Raw } from './raw.js';
import type { Story } from './story.js';

/** Rows that were read equal rows that were built again from the log, byte for byte. */
export const judgeRows = ({ rows: { live, rebuilt } }: Raw): readonly Finding[] =>
  [...new Set([...Object.keys(live), ...Object.keys(rebuilt)])].flatMap((name) => {
    const [before = [], after = []] = [live[name], rebuilt[name]];
    const length = Math.max(before.length, after.length);
    const place = Array.from({ length }, (_, index) => index).find((index) => before[index] !== after[index]);
    return place === undefined
      ? []
      : [
          {
            name: 'projection_drift' as const,
            detail: `${name}: ${before.length} rows were read, ${after.length} were built from the log`,
            evidence: `row ${place + 1} of ${name} differs first`,
          },
        ];
  });

/** The last answer about each invoice is what the log says. */
export const judgeLastAnswers = ({ http }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const last = new Map<string, { status: unknown; accessKey: unknown; ended: string; began: string }>();
  for (const { method, path, status, answer, ended, began } of http) {
    if (method !== 'GET' || status !== 200 || !/^\/v1\/nfse\/[^/?]+$/.test(path)) continue;
    const id = String(answer?.id);
    const before = last.get(id);
    if (before === undefined || before.began < began)
      last.set(id, { status: answer?.status, accessKey: answer?.access_key, ended, began });
  }
  return stories.flatMap(({ id, stream, status, accessKey }) => {
    const seen = last.get(id);
    if (seen === undefined || (seen.status === status && seen.accessKey === accessKey)) return [];
    return [
      {
        name: 'projection_drift' as const,
        detail: `${id} is ${status} by the log and was shown last as ${String(seen.status)}`,
        evidence: `${stream}, answer of ${seen.ended}`,
      },
    ];
  });
};

/** What the service replays of an instant is what a client was shown then, but for its links, which each read makes anew. */
export const judgeReplays = ({ replays }: Raw): readonly Finding[] =>
  replays
    .filter(({ replayed, polled }) => !isDeepStrictEqual(withoutLinks(replayed), withoutLinks(polled)))
    .map(({ id, at }) => ({
      name: 'replay_differs',
      detail: `${id} at ${at} is replayed otherwise than it was shown`,
      evidence: `replay of ${id}`,
    }));

const withoutLinks = (body: unknown): unknown => {
  if (typeof body !== 'object' || body === null) return body;
  const { links: _links, ...rest } = body as Record<string, unknown>;
  return rest;
};
