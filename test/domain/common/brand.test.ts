import { expect, it } from 'vitest';
import type { AccessKey, DpsId } from '../../../src/domain/common/access-key.js';
import { companyStream, type StreamName } from '../../../src/domain/common/ids.js';
import type { Cents } from '../../../src/domain/common/money.js';
import { type Instant, instant } from '../../../src/domain/common/time.js';
import type { Revision } from '../../../src/ports/event-log.js';

it('the compiler keeps kinds of text and of numbers apart, which `npm run typecheck` shows here', () => {
  const at: Instant = instant(0);
  const stream: StreamName = companyStream('12345678000195');
  const key: AccessKey = '1'.repeat(50);
  const cents: Cents = 100;
  // @ts-expect-error An instant is no stream name.
  const wrongStream: StreamName = at;
  // @ts-expect-error A stream name is no instant.
  const wrongInstant: Instant = stream;
  // @ts-expect-error An access key is no DPS id.
  const wrongDpsId: DpsId = key;
  // @ts-expect-error An amount is no revision.
  const wrongRevision: Revision = cents;
  expect([wrongStream, wrongInstant, wrongDpsId, wrongRevision]).toHaveLength(4);
});
