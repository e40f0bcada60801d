import { startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';
import { invoiceLife } from '../invoice-life.js';

describeWith('natsServer', 'a real NATS server', () => {
  invoiceLife('an invoice on PostgreSQL and NATS', async () => {
    const nats = await startNats();
    return { env: { NATS_URL: nats.url }, close: nats.close };
  });
});
