import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PdfFailed } from '../../../src/adapters/pdf/renderer.js';
import { UnknownEventVersion } from '../../../src/app/event-store/codec.js';
import { StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { SealedTextChanged, SealingKeyUnknown } from '../../../src/ports/sealing-keys.js';
import { isUnavailable, requestFaults } from '../../../src/runtime/roles/faults.js';

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

  it('says what to do when a generation of the master key is known nowhere; the client gets 503', () => {
    const error = new SealingKeyUnknown('no key of m2: restore its line').inField('customer', 'nfseLive-1_2@0');
    expect(isUnavailable(error)).toBe(true);
    const detail = 'the sealed field customer cannot be opened: no key of m2: restore its line';
    expect(linesOf(error)).toEqual([expect.objectContaining({ error: 'SealingKeyUnknown', detail })]);
    expect(isUnavailable(new SealedTextChanged('it is not of this event'))).toBe(false);
  });

  it('is an error for an event that this program cannot read, and the client gets 500, as the runbook says', async () => {
    const error = new UnknownEventVersion('event type SomethingElse, schema version 1, at nfseLive-1_2@3');
    expect(isUnavailable(error)).toBe(false);
    expect(linesOf(error)).toEqual([expect.objectContaining({ level: 'error', error: 'UnknownEventVersion' })]);
    const runbook = await readFile(new URL('../../../docs/operations/support.md', import.meta.url), 'utf8');
    expect(runbook).toMatch(
      /^\| `nfseLive-…`, `nfseTest-…` \| the invoice: the API answers requests about it with 500/m,
    );
  });

  it('has the code of the engine’s error that caused it, such as a lock that was held for too long', () => {
    const cause = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    const refused = new EventLogUnavailable('the event log refused the append', { cause });
    const unknown = new StoreUnavailable('the stream cannot be read', { cause: refused });
    expect(linesOf(refused)).toEqual([expect.objectContaining({ error: 'EventLogUnavailable', code: '55P03' })]);
    expect(linesOf(unknown)).toEqual([expect.objectContaining({ error: 'StoreUnavailable', code: '55P03' })]);
  });

  it.each([new PdfFailed('timeout'), new PdfFailed('layout'), new Error('anything')])('is an error for %s', (error) => {
    expect(linesOf(error)).toEqual([expect.objectContaining({ level: 'error', request_id: 'req_1' })]);
  });
});
