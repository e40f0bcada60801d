import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/client/client.js';
import { type DemoStage, loseAnswer } from '../../../src/runtime/commands/demo-lost-answer.js';

const ID = 'nfse_c6bd194c-8162-8a42-adb1-6441ff930fa6';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

type ControlAnswers = { notes: readonly string[]; sends: number; evidence: string };

/** A simulator's control port and a client that say what a test wants them to. */
const stageOf = async ({
  notes,
  sends,
  evidence,
}: ControlAnswers): Promise<Omit<DemoStage, 'log' | 'write'> & { shown: readonly string[] }> => {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const send = { method: 'POST', path: '/test/SefinNacional/nfse' };
    const answer = path.includes('/ledger')
      ? notes.map((access_key) => ({ access_key }))
      : path.includes('/calls')
        ? Array.from({ length: sends }, () => send)
        : { id: 'fault' };
    response.end(JSON.stringify(answer));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const invoice = { object: 'nfse', id: ID, livemode: false, amount_in_cents: 150_000, failed_attempts: 0 } as const;
  const issued: Invoice = { ...invoice, status: 'issued', access_key: 'key-1' };
  const entry = { at: '2026-11-21T12:00:00.000Z', who: 'worker:issuer', request_id: 'req_1' };
  const shown: string[] = [];
  return {
    client: {
      issue: async () => ({ ...invoice, status: 'queued' }),
      cancel: async () => issued,
      get: async () => ({ ...invoice, status: 'processing' }),
      waitForOutcome: async () => issued,
      download: async () => new Uint8Array(),
    },
    controlUrl: `http://127.0.0.1:${address.port}`,
    storyOf: async () => [
      { ...entry, event: 'IssuanceAttempted', evidence: 'attempt 1' },
      { ...entry, event: 'IssuanceOutcomeUnknown', evidence: 'attempt 1: ECONNRESET' },
      { ...entry, event: 'Authorized', evidence },
    ],
    show: (text) => void shown.push(text),
    shown,
  };
};

describe('demo --lost-answer', () => {
  const good: ControlAnswers = { notes: ['key-1'], sends: 1, evidence: 'access key key-1, by lookup' };

  it.each<[string, Partial<ControlAnswers>]>([
    ['two notes', { notes: ['key-1', 'key-2'] }],
    ['no note', { notes: [] }],
    ['a note of another access key', { notes: ['key-2'] }],
    ['a second send', { sends: 2 }],
    ['an outcome that no look-up found', { evidence: 'access key key-1, by response' }],
  ])('fails over %s', async (_what, answers) => {
    const stage = await stageOf({ ...good, ...answers });
    await expect(loseAnswer(stage)).rejects.toThrow(/the authorizer holds \d notes? after \d sends?/);
    expect(stage.shown.join('\n')).not.toContain('never two');
  });

  it('says that there is one note, and gives the id of its invoice', async () => {
    const stage = await stageOf(good);
    expect(await loseAnswer(stage)).toBe(ID);
    expect(stage.shown.at(-1)).toBe(
      'the authorizer received 1 send and holds exactly 1 note for this request: never two',
    );
  });
});
