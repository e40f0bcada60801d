import type { LoggedEvent, Tenant } from './raw.js';

/** What the log says of one invoice, folded by the judge. */
export type Story = {
  stream: string;
  /** `nfse_<uuid>`, as clients see it. */
  id: string;
  tenant: Tenant;
  amountInCents: number;
  events: readonly LoggedEvent[];
  status: Status;
  accessKey: string | undefined;
  cancellation: 'none' | 'pending' | 'succeeded' | 'failed';
};

type Status = 'queued' | 'processing' | 'issued' | 'failed' | 'indeterminate' | 'canceled';

/** Of an invoice's stream: mode, company and UUID. */
const INVOICE_STREAM = /^nfse(Test|Live)-([0-9A-Z]{14})_([0-9a-f-]{36})$/;

const tenantOf = (stream: string): (Tenant & { uuid: string }) | undefined => {
  const [, mode, cnpj = '', uuid = ''] = INVOICE_STREAM.exec(stream) ?? [];
  if (mode === undefined) return undefined;
  return { cnpj, mode: mode === 'Test' ? 'test' : 'live', uuid };
};

/** One story for each accepted invoice, in the order of acceptance. */
export const storiesOf = (events: readonly LoggedEvent[]): readonly Story[] => {
  const streams = new Map<string, LoggedEvent[]>();
  for (const event of events) {
    if (tenantOf(event.stream) === undefined) continue;
    const own = streams.get(event.stream);
    if (own === undefined) streams.set(event.stream, [event]);
    else own.push(event);
  }
  return [...streams].flatMap(([stream, own]) => storyOf(stream, own) ?? []);
};

const storyOf = (stream: string, events: readonly LoggedEvent[]): Story | undefined => {
  const owner = tenantOf(stream);
  const accepted = events.find(({ type }) => type === 'InvoiceAccepted');
  if (owner === undefined || accepted === undefined) return undefined;
  const { uuid, ...tenant } = owner;
  let status: Status = 'queued';
  let accessKey: string | undefined;
  let cancellation: Story['cancellation'] = 'none';
  for (const { type, data } of events) {
    switch (type) {
      case 'IssuanceAttempted':
        status = 'processing';
        break;
      case 'Authorized':
        status = 'issued';
        accessKey = String(data.accessKey);
        break;
      case 'IssuanceRejected':
      case 'IssuanceFailed':
      case 'NotProcessed':
        status = 'failed';
        break;
      case 'IssuanceInterrupted':
        status = 'indeterminate';
        break;
      case 'CancellationRequested':
        cancellation = 'pending';
        break;
      case 'CancellationNotConfirmed':
        cancellation = 'failed';
        break;
      case 'CancellationConfirmed':
      case 'CancellationSettledBySupport':
        status = 'canceled';
        cancellation = 'succeeded';
        break;
      case 'NoteCanceledElsewhere':
        status = 'canceled';
        if (cancellation === 'pending') cancellation = 'succeeded';
        break;
      default:
        break;
    }
  }
  const amountInCents = Number(accepted.data.amountInCents);
  return { stream, id: `nfse_${uuid}`, tenant, amountInCents, events, status, accessKey, cancellation };
};
