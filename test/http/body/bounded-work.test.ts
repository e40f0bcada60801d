import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkBody } from '../../../src/http/body/check.js';
import { issueBody } from '../../../src/http/body/issue-schema.js';
import { MAX_DEPTH, MAX_DIGITS, MAX_STRUCTURE, MAX_TEXT_BYTES } from '../../../src/http/body/json-scanner.js';
import { SLICE_BYTES, scanInTurns } from '../../../src/http/body/read-json-object.js';
import { createTurns } from '../../../src/http/turns.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { hostileBodies, LARGEST } from './hostile.js';

const BYTES_PER_TURN = 32 * 1024;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the work that a body of 10 MiB makes', () => {
  it.each(Object.entries(hostileBodies))('%s: a small text for the parser, and a small answer', async (_what, body) => {
    const harness = createHarness();
    const raw = body.make();
    const parse = vi.spyOn(JSON, 'parse');
    const response = await harness.app.request('/v1/nfse', {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.keys.test}`, 'content-type': 'application/json' },
      body: raw as BodyInit,
    });
    const longest = Math.max(0, ...parse.mock.calls.map(([text]) => Buffer.byteLength(text)));
    parse.mockRestore();
    expect(longest).toBeLessThanOrEqual(MAX_TEXT_BYTES);
    expect(Buffer.byteLength(await response.clone().text())).toBeLessThan(2 * MAX_TEXT_BYTES);
    await expectRefusal(response, 400, body.code);
  });

  it('has bounds that the contract and the guide name', async () => {
    for (const page of ['docs/contract.md', 'docs/guia/limites.md']) {
      const text = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8');
      const line = text.split('\n').find((one) => /CODE-invalid_request|conteúdo do corpo/.test(one)) ?? '';
      const numbers = [MAX_TEXT_BYTES / 1024, MAX_STRUCTURE, MAX_DEPTH, MAX_DIGITS].map(String);
      expect(line.match(/\d+/g), page).toEqual(expect.arrayContaining(numbers));
    }
  });

  it('ends at 256 KiB of content: one cause, which names no field', async () => {
    const fields = Array.from({ length: 600 }, (_, n) => [`${'k'.repeat(10_000)}${n}`, 1]);
    const harness = createHarness();
    const response = await harness.app.request('/v1/nfse', {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.keys.test}`, 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(fields)),
    });
    const { error } = (await response.clone().json()) as { error: Record<string, unknown> };
    const message = 'O corpo tem mais de 256 KiB de conteúdo. Envie só os campos da API.';
    expect(error.message).toBe(message);
    expect(error).not.toHaveProperty('param');
    await expectRefusal(response, 400, 'invalid_request');
  });

  it('is no more than a look or two at each field, however many causes there are', () => {
    const keys = Array.from({ length: MAX_STRUCTURE / 2 }, (_, n) => `k${n}`);
    let looks = 0;
    const counted = new Proxy(Object.fromEntries(keys.map((key) => [key, 1])), {
      get: (target, key, receiver) => {
        looks += 1;
        return Reflect.get(target, key, receiver);
      },
      getOwnPropertyDescriptor: (target, key) => {
        looks += 1;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    expect(checkBody(issueBody, counted)).toHaveProperty('causes.length', 1_002);
    expect(looks).toBeLessThanOrEqual(2 * keys.length + 10);
  });

  it('is a suggestion for the first fields only, because each compares names', () => {
    const keys = Array.from({ length: 999 }, (_, n) => `${'\u1f82'.repeat(36)}${n}`);
    const normalize = vi.spyOn(String.prototype, 'normalize');
    const checked = checkBody(issueBody, Object.fromEntries(keys.map((key) => [key, 1])));
    const compared = normalize.mock.calls.length;
    normalize.mockRestore();
    expect(checked).toHaveProperty('causes.length', 1_001);
    expect(compared).toBeLessThanOrEqual(20 * 20);
  });
});

/** A scanner that only counts, and turns of the event loop that the test ends. */
const counting = () => {
  let ended: (() => void)[] = [];
  const takeTurn = createTurns(BYTES_PER_TURN, () => new Promise<void>((resolve) => ended.push(resolve)));
  let scanned = 0;
  let largest = 0;
  const scanner = {
    feed: ({ length }: Uint8Array): void => {
      scanned += length;
      largest = Math.max(largest, length);
    },
  };
  const endTurn = async (): Promise<void> => {
    const waiting = ended;
    ended = [];
    for (const resolve of waiting) {
      resolve();
      // As the loop does between two immediates.
      for (let n = 0; n < 10; n += 1) await Promise.resolve();
    }
  };
  const scan = (bytes: number): Promise<void> => scanInTurns(scanner, new Uint8Array(bytes), takeTurn);
  return { scan, endTurn, scanned: () => scanned, largest: () => largest };
};

describe('a turn of the event loop', () => {
  it('scans 32 KiB and no more, in slices, of however many bodies, and all of them in the end', async () => {
    const { scan, endTurn, scanned, largest } = counting();
    const bodies = Array.from({ length: 7 }, () => scan(LARGEST));
    let done = false;
    void Promise.all(bodies).then(() => {
      done = true;
    });
    let turnsTaken = 0;
    for (let before = 0; !done; before = scanned(), turnsTaken += 1) {
      await endTurn();
      expect(scanned() - before).toBeLessThanOrEqual(2 * BYTES_PER_TURN);
      if (turnsTaken > 10_000) throw new Error('the bodies are never done');
    }
    expect(scanned()).toBe(7 * LARGEST);
    expect(largest()).toBe(SLICE_BYTES);
    expect(turnsTaken).toBeGreaterThanOrEqual((7 * LARGEST) / (2 * BYTES_PER_TURN));
  });

  it('is not waited for by a small body that it has room for', async () => {
    const { scan, scanned } = counting();
    await scan(300);
    expect(scanned()).toBe(300);
  });
});
