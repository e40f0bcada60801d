import type { DpsId } from '../../domain/common/access-key.js';
import { type CompanyId, dpsStream, type InvoiceId, type Mode, type StreamName } from '../../domain/common/ids.js';
import type { DpsNumberEvent } from '../../domain/dps-number/events.js';
import type { EventLog, Revision } from '../../ports/event-log.js';
import { decodeSealed } from '../event-store/codec.js';

/** Whose DPS an id names; series and number as the streams of numbers have them, unpadded. Undefined for text that is no DPS id. */
const readDpsId = (dpsId: DpsId): { companyId: CompanyId; series: string; number: number } | undefined => {
  const [, companyId = '', series, number] = /^DPS\d{7}2([0-9A-Z]{14})(\d{5})(\d{15})$/.exec(dpsId) ?? [];
  return companyId === '' ? undefined : { companyId, series: String(Number(series)), number: Number(number) };
};

/**
 * The company of a DPS id, and the invoice of the mode to which its number was allocated. The stream of numbers has every allocation, also that of
 * an attempt before the last, which no row can be found by. Undefined for text that is no DPS id.
 */
export const allocatedInvoice = async (
  dpsId: DpsId,
  mode: Mode,
  log: Pick<EventLog, 'read'>,
): Promise<{ companyId: CompanyId; invoiceId: InvoiceId | undefined } | undefined> => {
  const read = readDpsId(dpsId);
  if (read === undefined) return undefined;
  const { companyId, series, number } = read;
  return { companyId, invoiceId: await holderOf(number, dpsStream(mode, companyId, series), log) };
};

/** The next number only grows along the stream, so a binary search finds the number: about 20 reads among a million. */
const holderOf = async (
  number: number,
  stream: StreamName,
  log: Pick<EventLog, 'read'>,
): Promise<InvoiceId | undefined> => {
  const at = async (from: Revision): Promise<DpsNumberEvent | undefined> => {
    const [recorded] = await log.read(stream, { from, limit: 1 });
    return recorded === undefined ? undefined : (decodeSealed(recorded) as DpsNumberEvent);
  };
  const [newest] = await log.read(stream, { direction: 'backwards', limit: 1 });
  if (newest === undefined) return undefined;
  let [low, high] = [0, newest.revision];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await at(middle);
    if (event !== undefined && event.data.nextNumber > number) high = middle;
    else low = middle + 1;
  }
  const found = await at(low);
  return found?.type === 'DpsNumberAllocated' && found.data.number === number ? found.data.invoiceId : undefined;
};
