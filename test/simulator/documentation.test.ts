import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { RULES } from '../../src/simulator/rules/engine.js';
import { FAULT_KINDS } from '../../src/simulator/state/faults.js';

const page = await readFile(new URL('../../docs/simulator.md', import.meta.url), 'utf8');

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
