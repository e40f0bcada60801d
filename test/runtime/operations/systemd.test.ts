import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../../src/runtime/config/config.js';
import { itWith } from '../../support/needs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { ROOT } from '../../tools/root.js';

const page = readFileSync(join(ROOT, 'docs/operations/systemd.md'), 'utf8');
const [, unit = ''] = /```ini\n([\s\S]*?)```/.exec(page) ?? [];
const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));

it('starts the built program as a user without rights, with one folder to write to', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin: { nfse: string } };
  expect(settings.get('ExecStart')).toBe(`/usr/bin/node /opt/nfse/${bin.nfse.replace('./', '')} serve`);
  const hardened = {
    User: 'nfse',
    NoNewPrivileges: 'yes',
    ProtectSystem: 'strict',
    ProtectHome: 'yes',
    StateDirectory: 'nfse',
  };
  expect(Object.fromEntries(Object.keys(hardened).map((key) => [key, settings.get(key)]))).toEqual(hardened);
  expect(settings.get('CapabilityBoundingSet')).toBe('');
  const environment = Object.fromEntries(
    (settings.get('Environment') ?? '').split(' ').map((pair) => pair.split('=') as [string, string]),
  );
  expect(environment.DATA_DIR).toBe(`/var/lib/${settings.get('StateDirectory')}`);
  expect(readConfig(environment)).toHaveProperty('config');
});

it('gives a process the time to drain, sends the signal to it alone, and has memory for full pools', () => {
  expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThanOrEqual(60);
  expect([settings.get('KillMode'), settings.get('KillSignal')]).toEqual(['mixed', 'SIGTERM']);
  expect(settings.get('MemoryMax')).toBe('1G');
});

itWith('systemd', 'is a unit that systemd-analyze verifies without a remark, and rates as little exposed', () => {
  const file = join(temporaryFolder(), 'nfse.service');
  // The paths of an installation are those of this machine here, because systemd-analyze looks for them.
  writeFileSync(
    file,
    unit.replace('/usr/bin/node', process.execPath).replaceAll('/opt/nfse/dist/src/main.js', '/etc/passwd'),
  );
  const analyze = (...args: readonly string[]) => spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  const verified = analyze('verify', '--man=no');
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  const rated = analyze('security', '--offline=true', '--threshold=25');
  expect([rated.status, rated.stdout]).toEqual([0, expect.stringContaining('OK')]);
});
