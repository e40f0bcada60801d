import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** A run of vitest over these files, whose processes are killed after eight seconds without news. */
const run = (folder: string, files: readonly string[]): Promise<{ code: number; told: string }> =>
  new Promise((resolve) => {
    const program = join(repository, 'node_modules/vitest/vitest.mjs');
    const { PATH = '' } = process.env;
    execFile(
      process.execPath,
      [program, 'run', '--config', join(folder, 'vitest.config.ts'), ...files],
      { cwd: folder, env: { PATH }, maxBuffer: 1 << 24 },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), told: `${stdout}${stderr}` }),
    );
  });

const CONFIG = `
import { createStallReporter } from '${repository}test/support/stalls.ts';
const stalls = createStallReporter(8_000);
const plugins = [{ name: 'stalls', configureVitest: ({ vitest }) => vitest.config.reporters.push(stalls) }];
const onUnhandledError = (error) => !stalls.forgives(error);
const project = { plugins, test: { name: 'planted', globals: true, include: ['*.test.mjs'] } };
export default { test: { maxWorkers: 2, onUnhandledError, projects: [project] } };
`;

const FILES = {
  'vitest.config.ts': CONFIG,
  'blocks.test.mjs': `it('never ends', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`,
  // Node's own function, through which every message of the process goes.
  'silent.test.mjs': `
const send = process._send;
process._send = (message, ...others) => message.type === 'testfileFinished' || send.call(process, message, ...others);
it('passes', () => undefined);`,
  'fails.test.mjs': `it('is wrong', () => { throw new Error('wrong'); });`,
  'good.test.mjs': `it('is right', () => undefined);`,
};

describe.concurrent('a run that stands still', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-stalls-'));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('fails when a test blocks its process, and names its file', async ({ expect }) => {
    const { code, told } = await run(folder, ['blocks', 'good']);
    expect(told).toMatch(/STALLED planted \S+blocks\.test\.mjs/);
    expect(told).toMatch(/NO RESULT planted \S+blocks\.test\.mjs/);
    expect(code).toBe(1);
  });

  it('ends well when a process fell silent after its file had ended', async ({ expect }) => {
    const { code, told } = await run(folder, ['silent', 'good']);
    expect(told).toContain('the run stands still');
    expect(told).not.toContain('NO RESULT');
    expect(told).toMatch(/2 passed/);
    expect(code).toBe(0);
  });

  it('still fails by its tests', async ({ expect }) => {
    const { code, told } = await run(folder, ['silent', 'fails']);
    expect(told).toMatch(/1 failed/);
    expect(code).toBe(1);
  });
});
