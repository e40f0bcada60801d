import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compiledProgram } from '../support/compiled.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ROOT } from '../tools/root.js';
import { judge } from './judge/judge.js';
import { readRaw } from './judge/raw.js';
import type { ProofOptions } from './options.js';
import { runProof, type Screen } from './run.js';

const folder = temporaryFolder();
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const STARTS_WITHIN_MS = 120_000;
/** A run that is broken off within the limit of a test says what it was waiting for. */
const ENDS_WITHIN_MS = 540_000;

/** Each invoice of the broken service has both faults; the mishaps last longer than the first of them take. */
const ENOUGH = 30;

/** The last line, which says more on a machine without a program that judges documents. */
const AS_PROMISED =
  /everything (?:that was judged )?was as promised(?:; not made: [\w, ]+)?; seed 4; raw data in \S+\n$/;

/** `npm run proof` with these arguments. */
const proof = (...args: readonly string[]) => {
  const child = spawn(process.execPath, [compiledProgram('test/proof/main.ts'), ...args], { cwd: ROOT });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const limit = setTimeout(() => child.kill('SIGINT'), ENDS_WITHIN_MS);
  const code = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() => clearTimeout(limit));
  return { code, said: () => said, signal: (signal: NodeJS.Signals) => child.kill(signal) };
};

describe('a run of the proof', () => {
  it('finds nothing, prints the table, and leaves raw data that can be judged again', async () => {
    const out = join(folder, 'whole');
    const run = proof('--minutes', '0.2', '--kills', '2', '--seed', '4', '--out', out);
    const code = await run.code;
    expect(run.said()).toMatch(AS_PROMISED);
    expect(run.said()).toMatch(/notes in the ledger +\d+/);
    expect(code).toBe(0);
    const { isWhole, seed, options } = JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'));
    expect({ isWhole, seed }).toEqual({ isWhole: true, seed: 4 });
    expect(options).toEqual({ kills: 2, invoices: 0, clients: 10, engines: 'embedded' });
    const command = 'npm run proof -- --replay 4 --minutes 0.2 --kills 2 --invoices 0 --clients 10 --engines embedded';
    expect(run.said()).toContain(`the same draws: ${command}\n`);
    expect(run.said()).toContain("not made: clock steps of the service's machine");
    const taken = proof('--out', out);
    expect(await taken.code).toBe(2);
    expect(taken.said()).toMatch(/^\S+ holds raw data of another run \(run\.json\).*\n$/);
    const again = proof('--judge', out);
    expect(await again.code).toBe(0);
    expect(again.said()).toMatch(AS_PROMISED);
  });

  it('is refused where there is no whole raw data to judge', async () => {
    const nowhere = proof('--judge', join(folder, 'nowhere'));
    expect(await nowhere.code).toBe(2);
    expect(nowhere.said()).toMatch(/^\S+ holds no whole raw data of a run: ENOENT.*\n$/);
  });

  it('ends everything that it has started when it is told to stop, and says what it knows', async () => {
    const out = join(folder, 'broken-off');
    const run = proof('--minutes', '5', '--seed', '4', '--out', out);
    const accepts = async (): Promise<boolean> => {
      const file = join(out, 'http.ndjson');
      return existsSync(file) && readFileSync(file, 'utf8').includes('"status":202');
    };
    await eventually(accepts, Boolean, STARTS_WITHIN_MS);
    run.signal('SIGINT');
    expect(await run.code).toBe(130);
    expect(run.said()).toMatch(/broken off, not judged: .* accepted/);
    expect(JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')).isWhole).toBe(false);
  });

  it('finds the faults of a service that sends twice and keeps documents otherwise than they came', async () => {
    const out = join(folder, 'broken-service');
    const options: ProofOptions = {
      minutes: 0.1,
      seed: 4,
      clients: 10,
      invoices: ENOUGH,
      kills: 1,
      engines: 'embedded',
      out,
      writesReport: false,
    };
    let said = '';
    const hear = (text: string): void => {
      said = text;
    };
    const screen: Screen = { step: hear, live: hear };
    const service = [compiledProgram('test/proof/broken-service.ts')];
    const { isWhole, live } = await runProof(options, out, screen, AbortSignal.timeout(ENDS_WITHIN_MS), service);
    expect(isWhole, said).toBe(true);
    expect(live.counts.accepted).toBeGreaterThanOrEqual(ENOUGH);
    const names = judge(await readRaw(out, sha256)).findings.map(({ name }) => name);
    expect(names).toContain('double_send');
    expect(names).toContain('altered_document');
  });
});
