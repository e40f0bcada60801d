// Runs the bench on code built as `npm ci` builds the product. A compiler at run time names every function that is created, which costs a tenth.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, PROGRAMS, ROOT } from '../../src/launch/build.mjs';

const HERE = 'test/bench';
const home = join(ROOT, 'out');
mkdirSync(home, { recursive: true });
const folder = mkdtempSync(join(home, 'bench-code-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** The bench itself, and what it starts in a process of its own. */
const programs = readdirSync(join(ROOT, HERE), { recursive: true })
  .filter((name) => /(?:^main|-process)\.ts$/.test(name))
  .map((name) => `${HERE}/${name}`);
await bundle(folder, [...PROGRAMS, ...programs]);
await import(join(folder, HERE, 'main.js'));
