import { describe, expect, it } from 'vitest';
import { PdfFailed } from '../../../src/adapters/pdf/renderer.js';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';
import { isUnavailable, requestFaults } from '../../../src/runtime/roles/api-faults.js';

const linesOf = (error: unknown) => {
  const lines: unknown[] = [];
  const note = (level: string) => (line: object) => void lines.push({ level, ...line });
  requestFaults({ warn: note('warn'), error: note('error') } as never, { record: () => {} })(error, 'req_1');
  return lines;
};

describe('the log line of a request that ended in a fault', () => {
  it('is a warning when too many tasks wait; the client gets 503', () => {
    const error = new TooManyWaiting('documents to be drawn');
    expect(isUnavailable(error)).toBe(true);
    expect(linesOf(error)).toEqual([
      expect.objectContaining({ level: 'warn', request_id: 'req_1', error: 'TooManyWaiting' }),
    ]);
  });

  it.each([new PdfFailed('timeout'), new PdfFailed('layout'), new Error('anything')])('is an error for %s', (error) => {
    expect(linesOf(error)).toEqual([expect.objectContaining({ level: 'error', request_id: 'req_1' })]);
  });
});
