import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { invoiceStream, parseInvoiceId } from '../../../src/domain/common/ids.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { eventually } from '../../support/eventually.js';
import { createPoster, type Poster } from '../../support/harness/poster.js';
import { type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';

describeWithPostgres('a process of all roles that is told to stop while clients still send', () => {
  let running: RunningService;
  beforeEach(async () => {
    running = await startRunningService();
  });
  afterEach(() => running.close());

  it('accepts what they send, and leaves its issuing to the next process', async () => {
    const posters: Poster[] = [];
    const begin = (amountInCents: number) => {
      const poster = createPoster(running.service.url, running.keys.test, 'fresh');
      posters.push(poster);
      return poster.begin({ amount_in_cents: amountInCents, description: 'Serviço' }, `drain-${amountInCents}`);
    };
    const [first, last] = [await begin(41_001), await begin(41_002)];
    const stopped = running.service.stop();
    // The other one keeps the public API open: an issuer that still worked would take this one, as the projector does.
    const answer = await first.finish();
    if ('fault' in answer) throw new Error(answer.fault);
    expect(answer).toMatchObject({ status: 202, connection: 'close' });
    const stream = invoiceStream('test', demoCompany().cnpj, parseInvoiceId(answer.id ?? '') ?? '');
    await eventually(
      () => running.service.engines.readModel.invoice(stream),
      (row) => row !== undefined,
    );
    expect(await last.finish()).toMatchObject({ status: 202 });
    await stopped;
    for (const poster of posters) poster.close();
    const log = postgresEventLog({ connectionString: running.config.databaseUrl ?? '' });
    const events = await log.readAll({ prefixes: ['nfse'], after: null, limit: 100 });
    await log.close();
    expect(events.map(({ type }) => type)).toEqual(['InvoiceAccepted', 'InvoiceAccepted']);
  });
});
