import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { RULES } from '../../src/simulator/rules/engine.js';
import { FAULT_KINDS } from '../../src/simulator/state/faults.js';
import { SLOW_MS, TEST_VALUES, UNSETTLED_SECONDS } from '../../src/simulator/test-values.js';

const read = (path: string): Promise<string> => readFile(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

const page = await read('simulator.md');
const guide = await read('guia/valores-de-teste.md');

describe('docs/simulator.md', () => {
  it('lists the codes of the rule engine, these and no others, and their number', () => {
    const rows = page.slice(page.indexOf('| group | codes |'), page.indexOf('Of annex II'));
    expect([...(rows.match(/E\d{4}/g) ?? [])].sort()).toEqual(RULES.map(({ code }) => code).sort());
    expect(page).toContain(`${RULES.length} business rules`);
  });

  it.each(FAULT_KINDS)('says what the fault %s does', (kind) => {
    expect(page.slice(page.indexOf('### Faults'))).toContain(`\`${kind}\``);
  });
});

describe('the test values', () => {
  const rows = TEST_VALUES.map(({ customer, amountInCents }) => `${customer} ${amountInCents ?? ''}`);

  it.each([
    ['docs/simulator.md', page],
    ['the guide', guide],
  ])('are all listed in %s, and no others', (_, text) => {
    const listed = [...text.matchAll(/^\| (`\d[^|]*) \| ([^|]*)\|/gm)].flatMap(([, customers = '', amount = '']) =>
      [...customers.matchAll(/`(\d+)`/g)].map(([, customer]) => `${customer} ${amount.trim().replaceAll('`', '')}`),
    );
    expect(listed).toEqual(rows);
  });

  it('take as long as both pages say', () => {
    expect([page.match(/after 6 s/g), guide.match(/6 segundos/g)]).toEqual([expect.any(Array), expect.any(Array)]);
    expect(SLOW_MS).toBe(6_000);
    for (const text of [page, guide]) expect(text).toContain('90 minut');
    expect(UNSETTLED_SECONDS).toBe(90 * 60);
  });
});
