import { expect, it } from 'vitest';
import { verifyLog } from '../../src/app/audit/verify-log.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { AUDIT_SERIES, writeAuditLog } from './audit-log.js';

it('the generated log of the audit bench verifies', async () => {
  const log = memoryEventLog();
  await writeAuditLog(log, 2);
  const { events, findings } = await verifyLog(log, {});
  expect({ events, found: findings.kept }).toEqual({ events: 1 + AUDIT_SERIES * 2 * 4, found: [] });
});
