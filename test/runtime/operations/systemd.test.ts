import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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

const backupPage = readFileSync(join(ROOT, 'docs/operations/backup.md'), 'utf8');
const [backupUnit = '', backupTimer = ''] = [...backupPage.matchAll(/```ini\n(\[Unit\][\s\S]*?)```/g)].map(
  ([, text = '']) => text,
);
const linesOf = (text: string, key: string) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value ?? '');

it('forbids dumps of the memory, also to the backup', () => {
  for (const text of [unit, backupUnit]) expect(linesOf(text, 'LimitCORE')).toEqual(['0']);
});

describe('the timer of the backup', () => {
  it('has the settings of the service, and a folder that its user may write', () => {
    for (const key of ['User', 'Group', 'WorkingDirectory', 'Environment', 'EnvironmentFile'])
      expect([key, linesOf(backupUnit, key)]).toEqual([key, [settings.get(key)]]);
    expect(linesOf(backupUnit, 'StateDirectory')).toEqual(['nfse-backup']);
    expect(linesOf(backupTimer, 'OnCalendar')).toHaveLength(1);
  });

  it('makes a folder of the moment, and removes old folders and nothing else', () => {
    const folder = temporaryFolder();
    const node = join(temporaryFolder(), 'node');
    // In place of Node: makes the folder that it is told to make.
    writeFileSync(node, '#!/bin/sh\nmkdir "$4"\n', { mode: 0o755 });
    // systemd unescapes before it runs anything.
    const shell = (line = '') => line.replaceAll('$$', '$').replaceAll('%%', '%').replaceAll('/usr/bin/node', node);
    const run = (line: string) =>
      spawnSync('sh', ['-c', line], { encoding: 'utf8', env: { ...process.env, STATE_DIRECTORY: folder } });
    for (const [name, days] of [
      ['old', 20],
      ['young', 10],
    ] as const) {
      mkdirSync(join(folder, name));
      const at = Date.now() / 1_000 - days * 86_400;
      utimesSync(join(folder, name), at, at);
    }
    expect(run(shell(linesOf(backupUnit, 'ExecStart')[0]))).toMatchObject({ status: 0, stderr: '' });
    const cleaning = shell(linesOf(backupUnit, 'ExecStartPost')[0]).replace('/var/lib/nfse-backup', folder);
    expect(run(cleaning)).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(folder).toSorted()).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{4}$/), 'young']);
  });

  itWith('systemd', 'is what systemd-analyze verifies without a remark', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'nfse-backup.service'), backupUnit);
    writeFileSync(join(folder, 'nfse-backup.timer'), backupTimer);
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, 'nfse-backup.timer')], {
      encoding: 'utf8',
    });
    expect([verified.status, verified.stderr]).toEqual([0, '']);
  });
});
