import { expect, it } from 'vitest';
import { createPositionAccount } from '../../../src/app/audit/position-account.js';
import type { LogPosition } from '../../../src/ports/event-log.js';

const TEST = 'nfseTest-12345678000195_11111111-1111-4111-8111-111111111111';

const at = (position: number, revision = 0, type = 'InvoiceAccepted') => ({
  position: BigInt(position) as LogPosition,
  revision,
  stream: TEST,
  type,
});
const end = (position: number, revision: number) => at(position, revision, 'TestInvoiceDeleted');

/** Each event with the last revision of its stream that the walk met before it. */
const detailOf = (walk: readonly (readonly [ReturnType<typeof at>, number])[]): string | undefined => {
  const account = createPositionAccount();
  for (const [event, before] of walk) account.add(event, event, before);
  return account.finish()[0]?.detail;
};

it('the ends of test invoices account for the places that were cut before them, wherever those lay', () => {
  expect(
    detailOf([
      [at(1), -1],
      [at(2), -1],
      [end(7, 4), -1],
      [end(8, 1), 0],
    ]),
  ).toBeUndefined();
});

it('a cut of which the walk met the beginning accounts for the rest', () => {
  expect(
    detailOf([
      [at(1), -1],
      [end(6, 5), 0],
    ]),
  ).toBeUndefined();
});

it('any other empty place is told, and so is an end that says more than is empty', () => {
  expect(
    detailOf([
      [at(2), -1],
      [at(5), 0],
    ]),
  ).toBe('empty positions of the log: 3 (1, 3 to 4); the ends of test invoices account for 0');
  expect(
    detailOf([
      [at(1), -1],
      [end(4, 3), 2],
    ]),
  ).toContain('account for 0');
  expect(detailOf([[end(3, 4), -1]])).toBe(
    'empty positions of the log: 2 (1 to 2); the ends of test invoices account for 4',
  );
});

it('only the first empty places are named', () => {
  const scattered = Array.from({ length: 9 }, (_, n) => [at(2 * n + 2), n - 1] as const);
  expect(detailOf(scattered)).toContain('9 (1, 3, 5, 7, 9, …)');
});
