import { expect, it } from 'vitest';
import { createReminder, REMIND_MS } from '../../src/lib/reminder.js';

it('tells of each state once, again when its time has passed, and at once after it was over', () => {
  let now = 0;
  const reminder = createReminder(REMIND_MS, () => now);
  const told = (...states: string[]) => states.filter((state) => reminder.isDue(state));
  expect(told('away', 'refused', 'away', 'refused')).toEqual(['away', 'refused']);
  now = REMIND_MS - 1;
  expect(told('away')).toEqual([]);
  now = REMIND_MS;
  expect(told('away', 'away')).toEqual(['away']);
  reminder.reset();
  expect(told('away')).toEqual(['away']);
});
