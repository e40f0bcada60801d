import { Agent, request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, issue, openSimulatorHarness, type SimulatorHarness } from '../support/harness/simulator.js';

describe('a simulator that asks for the certificate after the request', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness({ renegotiate: true });
  });
  afterAll(() => harness.close());

  it('knows its caller, on the first and on later calls of a connection', async () => {
    expect((await issue(harness)).status).toBe(201);
    expect(codesOf(await issue(harness))).toEqual(['E0014']);
    const calls = (await harness.control('GET', 'calls')).json;
    expect(calls).toEqual([expect.objectContaining({ outcome: 201 }), expect.objectContaining({ outcome: 400 })]);
  });

  it('serves many connections at once', async () => {
    const answers = await Promise.all([11, 12, 13, 14, 15, 16].map((number) => issue(harness, { number })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201]);
  });

  it('answers 403 to a client without a certificate', async () => {
    expect((await harness.call('GET', '/dps/DPS1', { identity: null })).status).toBe(403);
  });

  it('has nothing to say to a client that wants TLS 1.3', async () => {
    const agent = new Agent({ ca: harness.simulator.caPem, minVersion: 'TLSv1.3' });
    const failure = new Promise((resolve) => {
      const sent = request(`${harness.simulator.urls.test}/nfse`, { agent }, () => resolve('an answer'));
      sent.on('error', ({ message }) => resolve(message));
      sent.end();
    });
    expect(await failure).toMatch(/protocol version/);
    agent.destroy();
  });
});
