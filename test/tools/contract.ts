import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { requiredIds } from './contract-ids.js';
import { contractFaults, evidenceOf, evidencePage, requirementsOf } from './contract-pages.js';
import { ROOT } from './root.js';

const CONTRACT = `${ROOT}docs/contract.md`;
const EVIDENCE = `${ROOT}docs/contract-evidence.md`;

type Report = {
  testResults: {
    name: string;
    assertionResults: { fullName: string; ancestorTitles: string[]; title: string; status: string }[];
  }[];
};

const named = (file: string, title: string): string => `${file.replace(ROOT, '')} › ${title}`;

/** Only tests that passed count, when there is a report of a run. */
const passedIn = (path: string): ReadonlySet<string> => {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  return new Set(
    testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'passed')
        .map(({ ancestorTitles, title }) => named(name, [...ancestorTitles, title].join(' > '))),
    ),
  );
};

const collected = (): ReadonlySet<string> => {
  const args = ['vitest', 'list', '--config', 'test/vitest.config.ts', '--json'];
  const json = execFileSync('npx', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const tests = JSON.parse(json.slice(json.indexOf('['))) as { file: string; name: string }[];
  return new Set(tests.map(({ file, name }) => named(file, name)));
};

const storedEvidence = (): string => (existsSync(EVIDENCE) ? readFileSync(EVIDENCE, 'utf8') : '');

/** Puts the evidence into the order of the contract. Rows of ids that the contract does not have are dropped. */
const write = (): void => {
  const stored = evidenceOf(storedEvidence());
  writeFileSync(EVIDENCE, evidencePage(readFileSync(CONTRACT, 'utf8'), stored));
  process.stdout.write('docs/contract-evidence.md is written\n');
};

/** Without an argument the titles of all tests are collected; with the path of vitest's JSON report each test must have passed there. */
const check = (report: string | undefined): void => {
  const pages = { contract: readFileSync(CONTRACT, 'utf8'), evidence: storedEvidence() };
  const tests = report === undefined ? collected() : passedIn(report);
  const faults = contractFaults(pages, requiredIds(), tests);
  const rows = evidenceOf(pages.evidence);
  const notTestable = rows.filter((row) => row.notTestable).length;
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(
    `${requirementsOf(pages.contract).length} requirements, ${rows.length - notTestable} proven, ${notTestable} not testable here, ${faults.length} faults\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
};

const main = (argument: string | undefined): void => (argument === '--write' ? write() : check(argument));

main(process.argv[2]);
