import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { invoiceStream, parseInvoiceId } from '../../../src/domain/shared/ids.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { eventually, type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';

/** A POST whose last byte is kept back. */
type HeldPost = { finish(): void; answer: Promise<string> };

const heldPost = ({ service, keys }: RunningService, amountInCents: number): Promise<HeldPost> =>
  new Promise((resolve) => {
    const body = JSON.stringify({ amount_in_cents: amountInCents, description: 'Serviço' });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const head = [
      'POST /v1/nfse HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${keys.test}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Expect: 100-continue',
    ];
    let text = '';
    const answer = new Promise<string>((answered) => {
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes('202 Accepted') && text.endsWith('}')) answered(text);
      });
    });
    // The server has begun the request once it asks for the body.
    socket.once('data', () => {
      socket.write(body.slice(0, -1));
      resolve({ finish: () => socket.write(body.slice(-1)), answer });
    });
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
  });

describeWithPostgres('a process of all roles that is told to stop while clients still send', () => {
  let running: RunningService;
  beforeEach(async () => {
    running = await startRunningService();
  });
  afterEach(() => running.close());

  it('accepts what they send, and leaves its issuing to the next process', async () => {
    const [first, last] = [await heldPost(running, 41_001), await heldPost(running, 41_002)];
    const stopped = running.service.stop();
    first.finish();
    // The other one keeps the public API open: an issuer that still worked would take this one, as the projector does.
    const answer = await first.answer;
    expect(answer).toMatch(/connection: close/i);
    const stream = invoiceStream(
      'test',
      demoCompany().cnpj,
      parseInvoiceId(/nfse_[0-9a-f-]{36}/.exec(answer)?.[0] ?? '') ?? '',
    );
    await eventually(
      () => running.service.engines.readModel.invoice(stream),
      (row) => row !== undefined,
    );
    last.finish();
    await last.answer;
    await stopped;
    const log = postgresEventLog({ connectionString: running.config.databaseUrl ?? '' });
    const events = await log.readAll({ prefixes: ['nfse'], after: null, limit: 100 });
    await log.close();
    expect(events.map(({ type }) => type)).toEqual(['InvoiceAccepted', 'InvoiceAccepted']);
  });
});
