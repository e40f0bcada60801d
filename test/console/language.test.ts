import { expect, it } from 'vitest';
import { languageOf } from '../../src/console/language.js';

it.each([
  [undefined, undefined, 'pt'],
  [undefined, '*', 'pt'],
  [undefined, 'de-DE,de;q=0.9', 'pt'],
  [undefined, 'en-US,en;q=0.9', 'en'],
  [undefined, 'en;q=0.4, pt-BR;q=0.8', 'pt'],
  [undefined, 'fr, en;q=0.5', 'en'],
  [undefined, 'en;q=0, pt', 'pt'],
  ['en', 'pt-BR', 'en'],
  ['pt', 'en', 'pt'],
  ['fr', 'en', 'en'],
] as const)('chosen %j and accepted %j give %s', (chosen, accepted, language) => {
  expect(languageOf(chosen, accepted)).toBe(language);
});
