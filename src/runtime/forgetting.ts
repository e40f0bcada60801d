import type { InvoiceReader } from '../app/read/invoice-reader.js';
import { pause } from '../waiting/pause.js';
import type { Runner } from './runner.js';

const EVERY_MS = 60_000;

/** Memory is a place like any other: an invoice that is over leaves it although nobody asks for it any more. */
export const forgetWhatIsOver = (reader: Pick<InvoiceReader, 'forgetOver'>, { stopping }: Runner): void => {
  const forget = async (): Promise<void> => {
    while (!stopping.aborted) {
      await pause(EVERY_MS, stopping);
      reader.forgetOver();
    }
  };
  // Nobody waits for its end: it holds nothing open.
  void forget();
};
