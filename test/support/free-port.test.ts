import { expect, it } from 'vitest';
import { freePort } from './free-port.js';

/** Outside the range of all other tests. */
const FORTY = { from: 14_000, to: 14_040 };

it('gives no port of the run twice, because the server of the first may not listen yet', async () => {
  const ports: number[] = [];
  for (let n = 0; n < 20; n += 1) ports.push(await freePort(FORTY));
  expect(new Set(ports).size).toBe(20);
});
