import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../eventually.js';
import type { RunningService } from './running-service.js';

type Answer = { status: number; code: string | undefined; retryAfter: string | null };

/** Programs that issue one invoice after the other and repeat, with the same key, whatever was not accepted. */
export type SteadyLoad = {
  /** Resolves when a few more were accepted than now. */
  goesOn(): Promise<void>;
  /** Answers that were neither 202 nor 200, so far. */
  refusals(): readonly Answer[];
  /** No new invoices; resolves when those under way are accepted. */
  stop(): Promise<void>;
  /** Checks that every accepted invoice is issued once, and that all answers followed the contract. */
  expectNothingLost(): Promise<void>;
};

const PROGRAMS = 3;
const BETWEEN_MS = 150;
const A_FEW = 5;
const ISSUED_WITHIN_MS = 120_000;

export const startSteadyLoad = ({ service, keys, control }: RunningService): SteadyLoad => {
  const accepted = new Map<string, number>();
  const answers: Answer[] = [];
  const wrong: string[] = [];
  let going = true;
  let amounts = 10_000;

  const call = async (path: string, init: RequestInit): Promise<{ status: number; id: string; state: string }> => {
    const response = await fetch(`${service.url}${path}`, init);
    const body = (await response.json()) as { id?: string; status?: string; error?: { code: string } };
    const { status } = response;
    if (status >= 300)
      answers.push({ status, code: body.error?.code, retryAfter: response.headers.get('retry-after') });
    return { status, id: body.id ?? '', state: body.status ?? '' };
  };
  const authorization = `Bearer ${keys.test}`;
  const look = (id: string) => call(`/v1/nfse/${id}`, { headers: { authorization } });

  const issueOne = async (): Promise<void> => {
    amounts += 1;
    const amount = amounts;
    const init = {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ amount_in_cents: amount, description: `Carga ${amount}` }),
    };
    let answer = await call('/v1/nfse', init);
    while (answer.status !== 202) {
      await pause(BETWEEN_MS);
      answer = await call('/v1/nfse', init);
    }
    accepted.set(answer.id, amount);
    const seen = await look(answer.id);
    if (seen.status !== 200 && seen.status !== 503) wrong.push(`${answer.id} read as ${seen.status} after its 202`);
  };
  const programs = Array.from({ length: PROGRAMS }, async () => {
    while (going) {
      await issueOne();
      await pause(BETWEEN_MS);
    }
  });

  return {
    goesOn: async () => {
      const wanted = accepted.size + A_FEW;
      await eventually(
        async () => accepted.size,
        (count) => count >= wanted,
      );
    },
    refusals: () => answers,
    stop: async () => {
      going = false;
      await Promise.all(programs);
    },
    expectNothingLost: async () => {
      expect(wrong).toEqual([]);
      for (const { status, code, retryAfter } of answers) {
        expect(['503 service_unavailable', '409 idempotency_key_in_use']).toContain(`${status} ${code}`);
        expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
      }
      for (const id of accepted.keys()) {
        await eventually(
          () => look(id),
          ({ state }) => state === 'issued',
          ISSUED_WITHIN_MS,
        );
      }
      const ledger = (await control('GET', '/_control/ledger')) as readonly { amount_in_cents: number }[];
      const noted = ledger.map(({ amount_in_cents: amount }) => amount).sort((a, b) => a - b);
      expect(noted).toEqual([...accepted.values()].sort((a, b) => a - b));
    },
  };
};
