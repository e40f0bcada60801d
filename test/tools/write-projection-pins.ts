/**
 * Writes down what each version of a projection makes: node --import tsx test/tools/write-projection-pins.ts
 * To be run after a version was raised or a golden event was added. Refuses other rows under a version that is written down already.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { allProjections } from '../../projections/registry.js';
import { changedUnder, type Pins, pinsOf } from './projection-pins.js';

const FILE = new URL('../projections/pins.json', import.meta.url);

const stored = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Pins>;
const made: Record<string, Pins> = {};
for (const projection of allProjections) {
  const pins = pinsOf(projection);
  const before = stored[projection.name];
  const changed = before === undefined ? [] : changedUnder(before, pins);
  if (changed.length > 0)
    throw new Error(`${projection.name}: raise its version, because it changes ${changed.join(', ')}`);
  made[projection.name] = pins;
}
writeFileSync(FILE, `${JSON.stringify(made, null, 2)}\n`);
