import { invoiceLife } from '../invoice-life.js';

/** Nothing but Node and npm: what `npm start` runs on. */
invoiceLife('an invoice on the embedded engines', async () => ({
  env: { DATABASE_URL: '' },
  close: async () => undefined,
}));
