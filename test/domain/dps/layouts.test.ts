import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { layoutOf, layoutsToCome, publishedLayouts } from '../../../src/domain/dps/layout.js';
import { layouts } from '../../../src/domain/dps/layouts.js';
import { schemaText } from '../../../src/xml/schema.js';

const modes = ['live', 'test'] as const;

/** Days of the releases, newest first; the first release of all has none. */
const releaseDays = [
  ...readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8').matchAll(/^## [\d.]+ - (\S+)$/gm),
].map(([, day = '']) => day);

describe('the table of layouts', () => {
  it('is in order, so that the last row of a day is the one in force', () => {
    for (const mode of modes) {
      const days = publishedLayouts().map(({ from }) => from[mode]);
      expect(days).toEqual([...new Set(days)].sort());
    }
  });

  it('names for each row a folder of schemas that take its version, and only files of official bundles', () => {
    for (const { schemas, version } of publishedLayouts()) {
      const [, pattern = ''] =
        /name="TVerNFSe".*?<xs:pattern value="([^"]+)"/s.exec(schemaText(schemas, 'tiposSimples')) ?? [];
      expect(version).toMatch(new RegExp(`^(?:${pattern})$`));
      expect(existsSync(new URL(`../../../src/xml/xsd/${schemas}/README.md`, import.meta.url))).toBe(true);
    }
  });

  // Documents of an older release would be built again with other bytes. The first row is that of all releases so far.
  it('has no later row that began before the newest release', () => {
    expect(releaseDays.length).toBeGreaterThan(0);
    const [newest = ''] = releaseDays;
    for (const { from } of publishedLayouts().slice(1))
      for (const mode of modes) expect([newest, from[mode]]).toEqual([newest, from[mode]].sort());
  });

  it('gives every day of the past the first layout', () => {
    for (const mode of modes) {
      expect(layoutOf(mode, '2023-01-01T00:00:00-03:00').version).toBe('1.01');
      expect(layoutOf(mode, '2026-11-23T10:00:00-03:00').schemas).toBe('v1.01');
    }
  });
});

describe('layoutsToCome', () => {
  const [row] = layouts.filter(({ kind }) => kind === 'announced');

  it.each([
    ['31 days before', '2026-10-31T12:00:00.000Z', 0],
    ['30 days before', '2026-11-01T12:00:00.000Z', 1],
    ['in the last hour of Brasília before them', '2026-11-01T02:59:59.000Z', 0],
    ['afterwards', '2027-03-01T12:00:00.000Z', 1],
  ] as const)('tells of an announced layout %s', (_when, now, count) => {
    expect(row?.from).toEqual({ live: '2026-12-01', test: '2026-12-01' });
    for (const mode of modes) expect(layoutsToCome(mode, now)).toHaveLength(count);
  });

  it('never sends one', () => {
    for (const mode of modes) expect(layoutOf(mode, '2030-01-01T00:00:00-03:00').version).toBe('1.01');
  });
});
