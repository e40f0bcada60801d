import { describe, expect, it } from 'vitest';
import { createDiskSpace } from '../../../src/runtime/engines/disk-space.js';
import { at } from '../../support/fixture/invoice.js';

const diskFull = (): Error => Object.assign(new Error('no space'), { code: '53100' });

describe('a full disk', () => {
  it.each([
    ['is reported for a minute', 59, true],
    ['is no longer reported after it', 60, false],
    ['is no longer reported after the clock was set back', -10_800, false],
  ])('%s', (_what, seconds, isMissing) => {
    let now = at(0);
    const disk = createDiskSpace({ now: () => now }, { error: () => undefined });
    disk.record(diskFull());
    now = at(seconds);
    expect(disk.isMissing()).toBe(isMissing);
  });
});
