import { type InvoiceLife, LIFE_KEYS } from '../../domain/log/life.js';

/** Where a walk keeps what it remembers of a stream (see `StreamTable.numbersOf`): an invoice its life, a series of DPS numbers two numbers. */
export const LIFE = 0;
export const NEXT_NUMBER = 0;
export const BLOCKED = 1;

/** The command of the last event, as a mark, and how many of its events stand in a row: event ids derive from both. */
export const COMMAND = LIFE_KEYS.length;
export const IN_COMMAND = COMMAND + 1;

/** How many events of the stream the walk has met in their place. */
export const EVENTS = IN_COMMAND + 1;

export const NUMBERS_PER_STREAM = EVENTS + 1;

export const lifeIn = (numbers: Float64Array): InvoiceLife => {
  const life = { ...UNBORN };
  for (let place = 0; place < LIFE_KEYS.length; place += 1) {
    const key = LIFE_KEYS[place];
    if (key !== undefined) life[key] = numbers[place] ?? 0;
  }
  return life;
};

const UNBORN = Object.fromEntries(LIFE_KEYS.map((key) => [key, 0])) as InvoiceLife;

export const rememberLife = (life: InvoiceLife, numbers: Float64Array): void => {
  for (let place = 0; place < LIFE_KEYS.length; place += 1) {
    const key = LIFE_KEYS[place];
    if (key !== undefined) numbers[place] = life[key];
  }
};
