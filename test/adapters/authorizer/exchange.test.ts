import { Agent } from 'node:https';
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../../src/adapters/authorizer/exchange.js';

/** Fails to connect with the error. */
const agentThatFails = (error: Error): Agent => {
  const agent = new Agent();
  agent.createConnection = (_options, done) => {
    done?.(error, new Duplex());
    return undefined;
  };
  return agent;
};

describe('the reason of a call that failed', () => {
  const failed = (error: Error) =>
    exchange({ agent: agentThatFails(error), method: 'GET', url: new URL('https://sefin.example/'), timeoutMs: 5_000 });

  it('is the code of the error', async () => {
    const error = Object.assign(new Error('read sefin.example'), { code: 'ECONNRESET' });
    expect(await failed(error)).toEqual({ kind: 'not_handed', reason: 'ECONNRESET' });
  });

  it('shows nothing of the message of an error without a code', async () => {
    expect(await failed(new Error('CN=ACME LTDA:11222333000181'))).toEqual({ kind: 'not_handed', reason: 'failed' });
  });
});
