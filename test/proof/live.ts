import { RANK } from './judge/answers.js';
import type { Exchange } from './judge/raw.js';

/** What is known while the run lasts. */
export type Live = {
  heard(exchange: Exchange): void;
  mishap(kind: string): void;
  fault(): void;
  /** One line, for a person who watches. */
  line(): string;
  counts: {
    requests: number;
    accepted: number;
    issued: number;
    kills: number;
    mishaps: number;
    faults: number;
    found: number;
  };
};

/** Counts, and a first look for what a single pass over the answers can find; the judge looks at everything afterwards. */
export const createLive = (began: number): Live => {
  const counts = { requests: 0, accepted: 0, issued: 0, kills: 0, mishaps: 0, faults: 0, found: 0 };
  const seen = new Map<string, { rank: number; ended: string }>();
  const byKey = new Map<string, string>();
  return {
    counts,
    heard: ({ tenant, method, path, status, answer, began: asked, ended, idempotencyKey }) => {
      counts.requests += 1;
      if (status === undefined || status >= 300 || typeof answer?.id !== 'string') return;
      const { id } = answer;
      const rank = RANK[String(answer.status)] ?? -1;
      const before = seen.get(id);
      if (before === undefined && method === 'POST') counts.accepted += 1;
      if (before !== undefined && before.rank > rank && before.ended < asked) counts.found += 1;
      if (rank >= 2 && (before?.rank ?? -1) < 2 && answer.status !== 'failed') counts.issued += 1;
      if (before === undefined || rank > before.rank) seen.set(id, { rank, ended });
      if (path !== '/v1/nfse' || idempotencyKey === undefined) return;
      const key = `${tenant} ${idempotencyKey}`;
      if ((byKey.get(key) ?? id) !== id) counts.found += 1;
      byKey.set(key, id);
    },
    mishap: (kind) => {
      counts.mishaps += 1;
      if (kind === 'kill') counts.kills += 1;
    },
    fault: () => {
      counts.faults += 1;
    },
    line: () => {
      const seconds = Math.round((Date.now() - began) / 1_000);
      const { requests, accepted, issued, kills, mishaps, faults, found } = counts;
      return `${seconds} s: ${requests} requests, ${accepted} accepted, ${issued} issued, ${kills} kills, ${mishaps - kills} other mishaps, ${faults} faults, ${found} found`;
    },
  };
};
