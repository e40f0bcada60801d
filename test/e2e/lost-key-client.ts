import { expect } from 'vitest';
import type { Service } from '../../src/runtime/roles/parts.js';
import { eventually } from '../support/eventually.js';
import type { LedgerNote } from '../support/harness/ledger.js';

type Body = Record<string, unknown> & { id: string; status: string; links: { pdf: string; xml: string } };

export const CUSTOMER = { document: '52998224725', name: 'Maria Aparecida' };

/** A client with a live key, whose amounts tell its requests apart; `now` returns the service that runs. */
export const liveClient = (now: () => Service, key: string) => {
  const ask = (path: string, body?: object, headers: object = {}): Promise<Response> =>
    fetch(`${now().url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const shown = async (id: string): Promise<Body> => (await (await ask(`/v1/nfse/${id}`)).json()) as Body;
  const post = (amount: number): Promise<Response> =>
    ask(
      '/v1/nfse',
      { amount_in_cents: amount, description: 'Consultoria', reference: `pedido-${amount}`, customer: CUSTOMER },
      { 'idempotency-key': `chave-${amount}` },
    );
  const accept = async (amount: number): Promise<string> => {
    const response = await post(amount);
    const body = (await response.json()) as Body;
    expect([response.status, body]).toEqual([202, expect.anything()]);
    return body.id;
  };
  const becomes = (id: string, status: string): Promise<Body> =>
    eventually(
      () => shown(id),
      (body) => body.status === status,
    );
  const issue = async (amount: number): Promise<string> => (await becomes(await accept(amount), 'issued')).id;
  const xmlOf = async (id: string): Promise<Buffer> => {
    const response = await ask(`/v1/nfse/${id}/xml`);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };
  const control = async (path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${now().simulator?.controlUrl ?? ''}${path}`, { ...init, headers })).json();
  };
  const fault = (on: string, kind: string, times: number) => control('/_control/faults', { on, kind, times });
  const ledger = async (amount: number): Promise<readonly LedgerNote[]> =>
    ((await control('/_control/ledger?environment=live')) as readonly LedgerNote[]).filter(
      (note) => note.amount_in_cents === amount,
    );

  return { ask, shown, post, accept, becomes, issue, xmlOf, fault, ledger };
};
