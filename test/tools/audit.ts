import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.js';
import { judgeAudit, readAccepted } from './supply-chain/audit.js';

/**
 * Asks the registry that npm is set up with for advisories about the production packages. 0: none that is high or critical, or no
 * registry answers, which is said; 1: there are. Words are handed on to npm.
 */
const ACCEPTED = join(ROOT, 'docs/supply-chain/accepted-advisories.json');

const say = (line: string): void => void process.stdout.write(`audit: ${line}\n`);

const { stdout } = spawnSync(
  'npm',
  [
    'audit',
    '--omit=dev',
    '--json',
    '--package-lock-only',
    '--fetch-retries=0',
    '--fetch-timeout=20000',
    ...process.argv.slice(2),
  ],
  { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
const verdict = judgeAudit(stdout, readAccepted(readFileSync(ACCEPTED, 'utf8')), new Date().toISOString().slice(0, 10));
switch (verdict.kind) {
  case 'unanswered':
    say(`NOT DONE, the registry gives no advisories here: ${verdict.why}`);
    break;
  case 'answered':
    for (const line of verdict.accepted) say(`accepted: ${line}`);
    for (const line of verdict.stale) say(`accepted, but found no more: ${line}`);
    for (const line of verdict.findings) say(`FOUND ${line}`);
    say(`${verdict.findings.length} high or critical advisories about the production packages`);
    process.exitCode = verdict.findings.length > 0 ? 1 : 0;
    break;
  default:
    verdict satisfies never;
}
