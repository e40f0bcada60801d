import { expect, it } from 'vitest';
import { MAX_WAITING } from '../../../src/http/bare-refusal.js';
import { createHarness } from '../harness.js';
import { expectEnvelope, headOf, openConnection, start } from './connection.js';

const GET = 'GET /v1/activities';

it('a connection that asks for more than it waits for is answered so far, refused and closed', async () => {
  let asked = 0;
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const harness = createHarness({
    rateLimits: { write: 60, read: 10_000 },
    activities: async () => {
      asked += 1;
      await gate;
      return [];
    },
  });
  const connection = openConnection(await start(harness));
  connection.socket.write(headOf(harness, GET).repeat(2_000));
  await expect.poll(() => asked).toBe(MAX_WAITING);
  release();
  const answers = await connection.answers(MAX_WAITING + 1);
  expect(answers.slice(0, MAX_WAITING).map(({ status }) => status)).toEqual(Array(MAX_WAITING).fill(200));
  await expectEnvelope(answers.at(-1) ?? Response.error(), 400, 'invalid_request');
  await expect.poll(connection.isClosed).toBe(true);
  expect([asked, answers.length, harness.faults]).toEqual([MAX_WAITING, MAX_WAITING + 1, []]);
});

it('a connection may ask for as many again once it has its answers', async () => {
  const harness = createHarness({ rateLimits: { write: 60, read: 10_000 } });
  const connection = openConnection(await start(harness));
  for (let round = 1; round <= 3; round += 1) {
    connection.socket.write(headOf(harness, GET).repeat(MAX_WAITING));
    const answers = await connection.answers(round * MAX_WAITING);
    expect(answers.map(({ status }) => status)).toEqual(Array(round * MAX_WAITING).fill(200));
  }
});
