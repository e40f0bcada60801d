import { expect, it } from 'vitest';
import { allProjections } from '../../../projections/registry.js';
import { projectionsBehind } from '../../../src/runtime/operator/checks.js';

it('does not call a projection one of another log when its checkpoint moves on while doctor looks', async () => {
  let head = 10n;
  const log = { head: async () => head, hasPlace: async () => true, readAll: async () => [] };
  const pool = {
    query: async (_text: string, [asked]: [string]) => {
      head += 5n;
      const position = String(head);
      const rows = allProjections
        .filter(({ name }) => name === asked)
        .map(({ name, version }) => ({
          name,
          version,
          compatibleFrom: version,
          generation: 1,
          position,
          role: 'live',
        }));
      return { rows, rowCount: rows.length };
    },
  };
  const clock = { now: () => '2026-11-29T00:00:00.000Z' };
  expect(await projectionsBehind({ pool, log } as never, clock)).toEqual([]);
});
