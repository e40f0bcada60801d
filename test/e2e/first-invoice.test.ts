import { invoiceLife } from './invoice-life.js';

invoiceLife('an invoice from the first request to its cancellation', async () => ({
  env: {},
  close: async () => undefined,
}));
