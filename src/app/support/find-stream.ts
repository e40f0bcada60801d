import { invoiceStream, type Mode, parseInvoiceId, type StreamName } from '../../domain/shared/ids.js';
import type { EventLog } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';

/** An invoice id names no company or mode, so every company is tried; a stream's name is taken as it is. */
export const findStream = async (
  wanted: string,
  { readModel, log }: { readModel: Pick<ReadModel, 'companies'>; log: Pick<EventLog, 'read'> },
): Promise<StreamName | undefined> => {
  const invoiceId = parseInvoiceId(wanted);
  if (invoiceId === undefined) return wanted;
  const modes: readonly Mode[] = ['live', 'test'];
  for (const company of await readModel.companies()) {
    if (company.kind !== 'company') continue;
    for (const mode of modes) {
      const stream = invoiceStream(mode, company.registration.cnpj, invoiceId);
      if ((await log.read(stream, { limit: 1 })).length > 0) return stream;
    }
  }
  return undefined;
};
