import { startEventStoreDouble } from '../../support/eventstore-double/double.js';
import { startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';
import { invoiceLife } from '../invoice-life.js';

describeWith('natsServer', 'a real NATS server', () => {
  invoiceLife('an invoice on EventStoreDB, the double, with NATS and PostgreSQL', async () => {
    const [double, nats] = [await startEventStoreDouble(), await startNats()];
    return {
      env: { EVENTSTORE_URL: double.url, NATS_URL: nats.url },
      close: async () => {
        await Promise.all([double.close(), nats.close()]);
      },
    };
  });
});

describeWith('eventstore', 'a real server', () => {
  invoiceLife('an invoice on EventStoreDB, a real server', async () => ({
    env: { EVENTSTORE_URL: process.env.TEST_EVENTSTORE_URL },
    isShared: true,
    close: async () => undefined,
  }));
});
