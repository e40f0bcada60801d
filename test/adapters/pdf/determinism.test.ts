import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { compiledProgram } from '../../support/compiled.js';
import { openRenderer } from './support/drawing.js';
import { customerNames, marks, noteOfCustomer, noteXml } from './support/notes.js';

/** SHA-256 of each document, by name, rendered by a separate process in this order. */
const digestsOf = async (names: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> => {
  const script = compiledProgram('test/adapters/pdf/support/print-digests.ts');
  const given = { env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...names], given);
  return JSON.parse(stdout);
};

/** Each loads fonts and draws, which takes long on a busy machine. */
const THREE_PROCESSES_MS = 300_000;

const names = Object.keys(customerNames);

it('draws the same bytes in every time zone and language, whatever was drawn before; the process ends by itself', {
  timeout: THREE_PROCESSES_MS,
}, async () => {
  const here = await digestsOf(names, { TZ: 'America/Sao_Paulo', LANG: 'pt_BR.UTF-8', LC_ALL: 'pt_BR.UTF-8' });
  const farAway = { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
  expect(await digestsOf(names.toReversed(), farAway)).toEqual(here);
  expect(await digestsOf(names.slice(1, 2), { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' })).toEqual(
    Object.fromEntries(Object.entries(here as object).slice(1, 2)),
  );
});

it('draws the same bytes on two threads', async () => {
  const drawn = await Promise.all(
    [1, 2].map(async () => {
      const renderer = openRenderer({ workers: 1, timeoutMs: 240_000 });
      const pdf = await renderer.render(noteXml('reform'), marks());
      await renderer.close();
      return pdf;
    }),
  );
  expect(drawn[0]?.equals(drawn[1] ?? Buffer.alloc(0))).toBe(true);
});

it('knows no date but that of the note', async () => {
  const renderer = openRenderer({ workers: 1, timeoutMs: 240_000 });
  const pdf = (await renderer.render(noteOfCustomer('plain'), marks())).toString('latin1');
  await renderer.close();
  expect(pdf.match(/D:\d{14}Z?/g)).toEqual(['D:20260828173708Z']);
  expect(pdf.match(/\d{4}-\d\d-\d\dT[\d:]+Z?/g)).toEqual(['2026-08-28T17:37:08Z']);
  expect(pdf).not.toContain('ModDate');
});

it('draws bytes that neither the machine nor the version of Node changes: only whoever changes the drawing writes another digest', async () => {
  const renderer = openRenderer({ workers: 1, timeoutMs: 240_000 });
  const pdf = await renderer.render(noteOfCustomer('plain'), marks({ canceled: true, simulated: true }));
  await renderer.close();
  expect(createHash('sha256').update(pdf).digest('hex')).toBe(
    '3a591fabd4de5a390dd75aa721ca8c617c1a6bd0152a0156a8ac5cfff69bcfb5',
  );
});
