import { describe, expect, it } from 'vitest';
import { PdfFailed } from '../../src/adapters/pdf/errors.js';
import { requestFaults } from '../../src/runtime/request-faults.js';
import { isUnavailable } from '../../src/runtime/unavailable.js';
import { TooMuchWaits } from '../../src/waiting/fair-gate.js';

const linesOf = (error: unknown) => {
  const lines: unknown[] = [];
  const note = (level: string) => (line: object) => void lines.push({ level, ...line });
  requestFaults({ warn: note('warn'), error: note('error') } as never)(error, 'req_1');
  return lines;
};

describe('the log line of a request that ended in a fault', () => {
  it('is a warning when too much waits, which a client is told as 503', () => {
    const error = new TooMuchWaits('documents to be drawn');
    expect(isUnavailable(error)).toBe(true);
    expect(linesOf(error)).toEqual([
      expect.objectContaining({ level: 'warn', request_id: 'req_1', error: 'TooMuchWaits' }),
    ]);
  });

  it.each([new PdfFailed('timeout'), new PdfFailed('drawing'), new Error('anything')])(
    'is an error for %s',
    (error) => {
      expect(linesOf(error)).toEqual([expect.objectContaining({ level: 'error', request_id: 'req_1' })]);
    },
  );
});
