import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requiredIds } from '../tools/contract-ids.js';
import { contractFaults, evidenceOf, evidencePage } from '../tools/contract-pages.js';

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

const testsOf = (evidence: string): ReadonlySet<string> =>
  new Set(evidenceOf(evidence).flatMap(({ shownBy }) => shownBy));

describe('the contract and its evidence', () => {
  it('have the same ids, those of the schemas and the error catalogue, in one order', () => {
    const pages = { contract: page('contract'), evidence: page('contract-evidence') };
    expect(requiredIds().length).toBeGreaterThan(200);
    expect(contractFaults(pages, requiredIds(), testsOf(pages.evidence))).toEqual([]);
  });
});

const contract = [
  '# Contract',
  '',
  '## One',
  '',
  '| GET-1 | First. |',
  '',
  '### Part',
  '',
  '| GET-2 | Second. |',
  '',
].join('\n');
const evidence = evidencePage(contract, [
  { id: 'GET-2', shownBy: ['not testable here: a promise'], notTestable: true },
  { id: 'GET-1', shownBy: ['a.test.ts › a > b', 'a.test.ts › a > c'], notTestable: false },
]);
const required = ['GET-1', 'GET-2'];
const tests = testsOf(evidence);

describe('the check of the contract', () => {
  it('takes a page as it was written, in the order of the contract', () => {
    expect(evidence.indexOf('GET-1')).toBeLessThan(evidence.indexOf('### Part'));
    expect(evidenceOf(evidence).map(({ id }) => id)).toEqual(required);
    expect(contractFaults({ contract, evidence }, required, tests)).toEqual([]);
  });

  it.each([
    [
      'a requirement that is gone',
      contract.replace('| GET-2 |', '| GET-3 |'),
      evidence,
      'GET-2 is missing in the contract',
    ],
    ['one too many', contract, evidence, 'GET-2 is not in test/tools/contract-ids.ts', ['GET-1']],
    ['one that is there twice', `${contract}\n| GET-1 | Again. |\n`, evidence, 'GET-1 is twice in the contract'],
    ['one without a row of evidence', contract, evidence.replace(/\| GET-2 .*\n/, ''), 'GET-2 has no evidence'],
    [
      'evidence of nothing',
      contract,
      `${evidence}| GET-9 | a.test.ts › a > b |\n`,
      'GET-9 has evidence and is not in the contract',
    ],
    [
      'a test that does not exist',
      contract,
      evidence.replace('a > c', 'a > d'),
      'GET-1: no such test, or it did not pass: a.test.ts › a > d',
    ],
    ['a new requirement', contract, evidencePage(contract, []), 'GET-1: no such test, or it did not pass: MISSING'],
    ['another order', contract, `${evidence}\n`, 'the evidence is out of date: npm run contract -- --write'],
  ])('finds %s', (_what, changed, page_, fault, ids = required) => {
    expect(contractFaults({ contract: changed, evidence: page_ }, ids, tests)).toContain(fault);
  });
});
