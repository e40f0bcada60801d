import { expect, it } from 'vitest';
import { stoppedTexts } from '../../../../src/app/operator/support/stopped-series.js';

it('a stopped series is moved only after a look whether an older copy of the log was put back', () => {
  const { command } = stoppedTexts({ mode: 'live', series: '1', isUsedUp: false });
  expect(command.indexOf('nfse restore --mark')).toBeGreaterThan(0);
  expect(command.indexOf('nfse company put')).toBeGreaterThan(command.indexOf('nfse doctor --reconcile'));
  expect(stoppedTexts({ mode: 'live', series: '1', isUsedUp: true }).command).not.toContain('restore');
});
