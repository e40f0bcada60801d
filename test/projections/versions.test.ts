import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { allProjections } from '../../projections/registry.js';
import { changedUnder, type Pins, pinsOf } from '../tools/projection-pins.js';

const stored = JSON.parse(readFileSync(new URL('./pins.json', import.meta.url), 'utf8')) as Record<string, Pins>;

describe('a projection', () => {
  it.each(allProjections)(
    '$name makes what its version made before: another table or row raises the version',
    (projection) => {
      const pins = stored[projection.name];
      expect(pins?.version).toBe(projection.version);
      expect(pins === undefined ? [] : changedUnder(pins, pinsOf(projection))).toEqual([]);
    },
  );

  it.each(allProjections)('$name is written down for every golden event', (projection) => {
    expect(stored[projection.name]).toEqual(pinsOf(projection));
  });

  it('with another column, index or row is not taken for its version', () => {
    const made = pinsOf(invoices);
    const wider = { ...invoices, columns: { ...invoices.columns, note: 'text' as const } };
    expect(changedUnder(made, pinsOf(wider))).toEqual(['its columns, key or indexes']);
    expect(changedUnder(made, pinsOf({ ...invoices, indexes: [] }))).toEqual(['its columns, key or indexes']);
    const forgetful = {
      ...invoices,
      handlers: { ...invoices.handlers, ReconciliationDifferenceFound: () => 'delete' as const },
    };
    expect(changedUnder(made, pinsOf(forgetful))).toContain('its rows of ReconciliationDifferenceFound.v1');
    expect(changedUnder(made, pinsOf({ ...forgetful, version: invoices.version + 1 }))).toEqual([]);
  });
});
