import { pause } from '../waiting/pause.js';

/** The demo's own words for a person: what was not as promised. */
export class DemoFailed extends Error {
  override readonly name = 'DemoFailed';
}

/** What the demo looks at of an invoice body. */
export type DemoInvoice = {
  id: string;
  status: string;
  access_key?: string;
  links?: { pdf: string; xml: string };
  cancellation?: { status: string };
  error?: { message: string };
};

const POLL_MS = 100;
const PATIENCE_MS = 45_000;

/** A client as an ERP developer would write it in an afternoon. */
export const createDemoClient = (origin: string, key: string) => {
  const call = async (method: string, path: string, body?: unknown): Promise<DemoInvoice> => {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new DemoFailed(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as DemoInvoice;
  };
  return {
    issue: (body: unknown) => call('POST', '/v1/nfse', body),
    cancel: (id: string, body: unknown) => call('POST', `/v1/nfse/${id}/cancel`, body),
    pollUntil: async (id: string, ended: (invoice: DemoInvoice) => boolean): Promise<DemoInvoice> => {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        const invoice = await call('GET', `/v1/nfse/${id}`);
        if (ended(invoice)) return invoice;
        if (Date.now() > deadline)
          throw new DemoFailed(`${id} is still ${invoice.status} after ${PATIENCE_MS / 1000} s`);
        await pause(POLL_MS);
      }
    },
    download: async (link: string): Promise<Buffer> => {
      const response = await fetch(link);
      if (!response.ok) throw new DemoFailed(`a download link answered ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    },
  };
};
