import { expect, it } from 'vitest';
import { UnknownEventVersion } from '../../../../src/app/event-store/codec.js';
import { stoppedTexts } from '../../../../src/app/operator/support/stopped-series.js';
import { waitingWork } from '../../../../src/app/operator/support/waiting.js';
import { invoiceStream } from '../../../../src/domain/common/ids.js';
import { DEMO_CNPJ, demoCompany } from '../../../support/fixture/demo.js';
import { at } from '../../../support/fixture/invoice.js';

it('a stopped series is moved only after a look whether an older copy of the log was put back', () => {
  const { command } = stoppedTexts({ mode: 'live', series: '1', isUsedUp: false });
  expect(command.indexOf('nfse restore --mark')).toBeGreaterThan(0);
  expect(command.indexOf('nfse company put')).toBeGreaterThan(command.indexOf('nfse doctor --reconcile'));
  expect(stoppedTexts({ mode: 'live', series: '1', isUsedUp: true }).command).not.toContain('restore');
});

it('a series that an event without a time has halted waits for an unknown time, after the work whose time is known', async () => {
  const parked = {
    stream: invoiceStream('live', DEMO_CNPJ, '00000000-0000-4000-8000-000000000001'),
    kind: 'issue' as const,
    messageId: 'm',
    reason: 'poison',
    parkedAt: at(0),
  };
  const load = () => Promise.reject(new UnknownEventVersion('event type SomethingElse'));
  const { count, oldest } = await waitingWork(
    {
      supportReads: {
        indeterminate: async () => ({ count: 0, oldest: [] }),
        failedCancellations: async () => ({ count: 0, oldest: [] }),
      },
      readModel: { companies: async () => [demoCompany(DEMO_CNPJ)] },
      store: { load },
      queue: { parked: async () => ({ work: [parked], count: 1 }) },
    },
    10,
  );
  expect(count).toBe(3);
  expect(oldest.map(({ kind, since }) => [kind, since])).toEqual([
    ['parked', at(0)],
    ['series_stopped', undefined],
    ['series_stopped', undefined],
  ]);
});
