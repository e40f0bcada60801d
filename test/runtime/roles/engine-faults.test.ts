import { describe, expect, it } from 'vitest';
import { AppendMayCome } from '../../../src/app/event-store/event-store.js';
import { StreamContended } from '../../../src/app/event-store/transact.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/ports/event-log.js';
import { isEngineFault, isUnavailable } from '../../../src/runtime/roles/faults.js';

const sqlError = (code: string): Error => Object.assign(new Error('refused'), { code });

describe('a fault of an engine', () => {
  it.each([
    ['a log that cannot be used', new EventLogUnavailable('down')],
    ['an append without an answer', new AppendOutcomeUnknown('lost')],
    ['an append that may still come', new AppendMayCome()],
    ['a database that shuts down', sqlError('57P01')],
    ['a database that nobody answers for', sqlError('ECONNREFUSED')],
    ['a full disk', sqlError('53100')],
    ['a database that takes no writes', sqlError('25006')],
  ])('is %s, which a request is answered 503 for', (_what, error) => {
    expect(isEngineFault(error)).toBe(true);
    expect(isUnavailable(error)).toBe(true);
  });

  it.each([
    ['a stream that others write to', new StreamContended()],
    ['a row that breaks a rule', sqlError('23505')],
    ['anything else', new Error('anything')],
  ])('is not %s', (_what, error) => {
    expect(isEngineFault(error)).toBe(false);
  });
});
