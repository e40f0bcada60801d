import type { DpsNumberEvent } from '../../domain/dps-number/dps-number.js';
import { dpsStream, invoiceStream, type Mode, type StreamName } from '../../domain/shared/ids.js';
import type { EventLog } from '../../ports/event-log.js';
import { decodeSealed } from '../event-store/codec.js';

const DPS_ID = /^DPS\d{7}2([0-9A-Z]{14})(\d{5})(\d{15})$/;

/**
 * The invoices, of either mode, to which the number of this DPS id was given. The log of numbers knows every one, also that of
 * an attempt before the last, which no row can be found by.
 */
export const invoiceOfDpsId = async (dpsId: string, log: Pick<EventLog, 'read'>): Promise<readonly StreamName[]> => {
  const [, cnpj = '', series = '', number = ''] = DPS_ID.exec(dpsId) ?? [];
  if (cnpj === '') return [];
  const modes: readonly Mode[] = ['live', 'test'];
  const names = new Set([series, String(Number(series))]);
  const owners: StreamName[] = [];
  for (const mode of modes) {
    for (const name of names) {
      const invoiceId = await ownerOf(dpsStream(mode, cnpj, name), Number(number), log);
      if (invoiceId !== undefined) owners.push(invoiceStream(mode, cnpj, invoiceId));
    }
  }
  return owners;
};

/** The next number only grows along the stream, so a number is found by halving: some 20 reads among a million. */
const ownerOf = async (
  stream: StreamName,
  number: number,
  log: Pick<EventLog, 'read'>,
): Promise<string | undefined> => {
  const at = async (from: number): Promise<DpsNumberEvent | undefined> => {
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
