import { expect, it } from 'vitest';
import type { RebuildResult } from '../../../src/cli/session.js';
import { createRebuilds } from '../../../src/runtime/operations/console.js';

/** The run of a rebuild that ends so, after its begin, during its work and at its end. */
const runOf = async (end: () => RebuildResult) => {
  const faults: unknown[] = [];
  const seen: unknown[] = [];
  const rebuilds = createRebuilds(
    {
      refusal: async () => undefined,
      rebuild: async (name, onProgress) => {
        await Promise.resolve();
        onProgress({ name, share: 0.5, events: 1 });
        seen.push(rebuilds.of(name)?.detail);
        return end();
      },
    },
    (error) => faults.push(error),
  );
  rebuilds.begin('invoices');
  seen.unshift(rebuilds.of('invoices')?.detail);
  await rebuilds.settled();
  return { seen, faults, end: rebuilds.of('invoices') };
};

const done = { name: 'invoices', version: 1, generation: 2, position: null, events: 122 };

it('a rebuild of the console says how far it is, in Portuguese and in English', async () => {
  expect(await runOf(() => ({ done }))).toEqual({
    seen: [
      ['acaba de começar', 'has just begun'],
      ['1 evento aplicado', '1 event folded'],
    ],
    faults: [],
    end: { state: 'done', detail: ['geração 2, 122 eventos', 'generation 2, 122 events'] },
  });
});

it('a rebuild of the console that is refused says the reason of the command line, and a fault goes to the log', async () => {
  const refused = await runOf(() => ({ refused: 'another process rebuilds invoices' }));
  expect(refused.end).toEqual({
    state: 'refused',
    detail: ['another process rebuilds invoices', 'another process rebuilds invoices'],
  });
  const failed = await runOf(() => {
    throw new Error('down');
  });
  expect([failed.faults, failed.end?.state, failed.end?.detail[0]]).toEqual([
    [new Error('down')],
    'refused',
    expect.stringContaining('um serviço falhou'),
  ]);
});

it('a rebuild of the console that may not begin says why', async () => {
  const rebuild = async () => ({ done });
  const of = async (why: string | undefined) => {
    const rebuilds = createRebuilds({ rebuild, refusal: async () => why }, () => undefined);
    return [await rebuilds.refuses('invoices'), rebuilds.of('invoices')];
  };
  expect(await of(undefined)).toEqual([false, undefined]);
  expect(await of('the log is older')).toEqual([
    true,
    { state: 'refused', detail: ['the log is older', 'the log is older'] },
  ]);
});
