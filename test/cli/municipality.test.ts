import { expect, it } from 'vitest';
import { factsOf, parameterFields } from '../../src/cli/commands/municipality.js';
import type { KnownParameters } from '../../src/domain/municipality/parameters.js';

it.each<KnownParameters>([
  { kind: 'convenio', isActive: true },
  { kind: 'aliquota', rates: [] },
  { kind: 'regimes_especiais', regimes: [] },
  { kind: 'retencoes', article6: true, municipal: 2 },
])('every field that is shown of the answer $kind is explained, and no other', (known) => {
  expect(Object.keys(parameterFields[known.kind])).toEqual(Object.keys(factsOf(known)));
});
