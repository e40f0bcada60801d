import { pause } from '../../lib/pause.js';

/** Thrown when the demo saw something that the service does not promise; the message is for a person. */
export class DemoFailed extends Error {
  override readonly name = 'DemoFailed';
}

/** The fields of an invoice body that the demo uses. */
export type DemoInvoice = {
  id: string;
  status: string;
  access_key?: string;
  links?: { pdf: string; xml: string };
  cancellation?: { status: string };
  error?: { message: string };
};

const POLL_MS = 50;
const PATIENCE_MS = 45_000;

/** Looks until there is something to see. Throws `DemoFailed` with what `missing` says after 45 s. */
export const lookUntil = async <T>(look: () => Promise<T | undefined>, missing: () => string): Promise<T> => {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > deadline) throw new DemoFailed(`${missing()} after ${PATIENCE_MS / 1000} s`);
    await pause(POLL_MS);
  }
};

/** A minimal client, as a developer of an ERP would write it. */
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
  const pollUntil = (id: string, ended: (invoice: DemoInvoice) => boolean): Promise<DemoInvoice> => {
    let status = '';
    const look = async (): Promise<DemoInvoice | undefined> => {
      const invoice = await call('GET', `/v1/nfse/${id}`);
      status = invoice.status;
      return ended(invoice) ? invoice : undefined;
    };
    return lookUntil(look, () => `${id} is still ${status}`);
  };
  return {
    issue: (body: unknown) => call('POST', '/v1/nfse', body),
    cancel: (id: string, body: unknown) => call('POST', `/v1/nfse/${id}/cancel`, body),
    pollUntil,
    /** The invoice once its outcome is known; throws when it is another one than issued. */
    untilIssued: async (id: string): Promise<DemoInvoice> => {
      const ended = await pollUntil(id, ({ status }) => status !== 'queued' && status !== 'processing');
      if (ended.status !== 'issued')
        throw new DemoFailed(`the invoice ended ${ended.status}: ${ended.error?.message ?? 'no reason given'}`);
      return ended;
    },
    download: async (link: string): Promise<Buffer> => {
      const response = await fetch(link);
      if (!response.ok) throw new DemoFailed(`a download link answered ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    },
  };
};
