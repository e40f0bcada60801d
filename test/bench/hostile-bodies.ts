import { createClient } from '../../src/client/client.js';
import { roles } from '../../src/runtime/config/config.js';
import type { Attack, AttackResult } from './attack-process.js';
import { startChild } from './child.js';
import { type BenchHarness, withBenchHarness } from './harness.js';
import type { LoadResult } from './load-process.js';
import { below, type Row } from './report.js';

const WATCHED_MS = 4_000;
const ATTACKERS = 2;
const OTHERS = 4;
const LONGEST_TURN_MS = 20;

/**
 * How long one request can hold the event loop, and what another tenant's GET sees meanwhile: each attack for four seconds over
 * two connections, compared with the same seconds without any. A block that is also in the quiet line comes from the machine.
 */
export const benchHostileBodies = (): Promise<readonly Row[]> =>
  withBenchHarness(roles, async (harness) => {
    const attacker = await startChild<readonly string[], Attack, AttackResult>('attack-process.ts', null);
    harness.alsoStop(attacker.stop);
    const id = await issuedId(harness);
    await watched(harness, id);
    const quiet = await watched(harness, id);
    const rows = [rowOf('quiet', quiet, quiet, 'no attack')];
    for (const what of attacker.ready) {
      const { origin, liveKey: key } = harness.service.ready;
      const attack = { origin, key, what, connections: ATTACKERS, milliseconds: WATCHED_MS };
      const [seen, { answers }] = await Promise.all([watched(harness, id), attacker.ask(attack)]);
      const answerCounts = Object.entries(answers).map(([status, count]) => `${count} x ${status}`);
      rows.push(rowOf(what, seen, quiet, answerCounts.join(', ')));
    }
    return rows;
  });

type Seen = LoadResult & { turnMs: number; blockMs: number };

/** The other tenant reads; the blocks are those of these seconds. */
const watched = async ({ service, load }: BenchHarness, id: string): Promise<Seen> => {
  await service.ask('longest block');
  await service.ask('busiest turn');
  const seen = await load({
    target: service.ready,
    what: { kind: 'get', paths: [`/v1/nfse/${id}`] },
    inFlight: OTHERS,
    until: { milliseconds: WATCHED_MS },
  });
  return { ...seen, turnMs: await service.ask('busiest turn'), blockMs: await service.ask('longest block') };
};

const issuedId = async ({ service }: BenchHarness): Promise<string> => {
  const { origin, key } = service.ready;
  const client = createClient({ baseUrl: origin, key });
  return (await client.issue({ amount_in_cents: 150_000, description: 'Desenvolvimento de sistema' })).id;
};

const rowOf = (name: string, seen: Seen, quiet: Seen, answerCounts: string): Row => ({
  name: `hostile: ${name}`,
  figure: `${seen.turnMs.toFixed(1)} ms of processor in a turn`,
  ratio: seen.p99Ms / quiet.p99Ms,
  aim: below(LONGEST_TURN_MS, seen.turnMs, ' ms'),
  detail: `still for ${seen.blockMs.toFixed(0)} ms by the clock, quiet ${quiet.blockMs.toFixed(0)}; GET ${times(seen)}, quiet ${times(quiet)}; ${answerCounts}`,
});

const times = ({ p50Ms, p99Ms }: Seen): string => `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`;
