import { expect, it } from 'vitest';
import { createNames } from './explore.js';

it('the same text has the same name, also when another object says it, and another text has another', () => {
  const { of, ofText } = createNames();
  const name = of({ crashes: 1 });
  expect(of({ crashes: 1 })).toBe(name);
  expect(ofText('{"crashes":1}')).toBe(name);
  expect(new Set([name, of({ crashes: 2 }), ofText(''), ofText('1')]).size).toBe(4);
});

it('the text of an object is made once', () => {
  const { of } = createNames();
  const part = { crashes: 1 };
  let made = 0;
  const textOf = (): string => {
    made += 1;
    return 'one crash';
  };
  expect(of(part, textOf)).toBe(of(part, textOf));
  expect(made).toBe(1);
});
