import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { requiredIds } from './contract-ids.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Requirement = { id: string; tests: readonly string[]; notTestable: boolean };

/** Rows of the tables: `| id | requirement | file › title<br>… |`, or `not testable here: reason` in the last column. */
const requirementsOf = (markdown: string): readonly Requirement[] =>
  markdown.split('\n').flatMap((line) => {
    const [, id, proof] = /^\| ([A-Z]+-[\w.-]+) \| [^|]+ \| ([^|]+) \|$/.exec(line) ?? [];
    if (id === undefined || proof === undefined) return [];
    const notTestable = /^not testable here: \S/.test(proof);
    return [{ id, tests: notTestable ? [] : proof.split('<br>').map((test) => test.trim()), notTestable }];
  });

type Report = {
  testResults: {
    name: string;
    assertionResults: { fullName: string; ancestorTitles: string[]; title: string; status: string }[];
  }[];
};

const named = (file: string, title: string): string => `${file.replace(root, '')} › ${title}`;

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
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const tests = JSON.parse(json.slice(json.indexOf('['))) as { file: string; name: string }[];
  return new Set(tests.map(({ file, name }) => named(file, name)));
};

const faultsOf = (requirements: readonly Requirement[], tests: ReadonlySet<string>): readonly string[] => {
  const ids = requirements.map(({ id }) => id);
  const required = requiredIds();
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} stands there twice`),
    ...required.filter((id) => !ids.includes(id)).map((id) => `${id} is missing`),
    ...ids.filter((id) => !required.includes(id)).map((id) => `${id} is no requirement of the specification`),
    ...requirements.flatMap(({ id, tests: shown }) =>
      shown.filter((test) => !tests.has(test)).map((test) => `${id}: no such test, or it did not pass: ${test}`),
    ),
  ];
};

/** Without an argument it collects the titles; with the path of vitest's JSON report, each test must have passed there. */
const main = (report: string | undefined): void => {
  const requirements = requirementsOf(readFileSync(`${root}docs/contract.md`, 'utf8'));
  const faults = faultsOf(requirements, report === undefined ? collected() : passedIn(report));
  const notTestable = requirements.filter((requirement) => requirement.notTestable).length;
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(
    `${requirements.length} requirements, ${requirements.length - notTestable} proven, ${notTestable} not testable here, ${faults.length} faults\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
};

main(process.argv[2]);
