import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseOsUser } from '../../src/adapters/embedded-postgres/os-user.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { runCommand } from '../../src/cli/run.js';
import { addSeconds, epochMs } from '../../src/domain/common/time.js';
import { type Config, readConfig } from '../../src/runtime/config/config.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import type { Service } from '../../src/runtime/roles/parts.js';
import { startService } from '../../src/runtime/service.js';
import { eventually } from '../support/eventually.js';
import { ENDS_WITHIN_MS } from '../support/patient.js';
import { runLogger } from '../support/run-logs.js';

type Mode = 'live' | 'test';
type Expected = {
  takenAt: string;
  keys: Record<Mode, string>;
  posted: readonly { mode: Mode; id: string; key?: string; body: Record<string, unknown> }[];
  bodies: Readonly<Record<string, Record<string, unknown>>>;
  /** SHA-256 in hex, or the code of the refusal. */
  documents: Readonly<Record<string, string>>;
};

const golden = new URL('../golden/upgrade/0.1.0/', import.meta.url);

describe('today’s service on a data folder of version 0.1.0', () => {
  let expected: Expected;
  let folder: string;
  let config: Config;
  let service: Service;
  /** The clock continues at real speed from the moment at which the folder was left. */
  let clock = systemClock;

  beforeAll(async () => {
    expected = JSON.parse(await readFile(new URL('expected.json', golden), 'utf8'));
    folder = await unpacked(await readFile(new URL('data.tar.br', golden)));
    const behind = (epochMs(expected.takenAt) - epochMs(systemClock.now())) / 1000;
    clock = { now: () => addSeconds(systemClock.now(), behind) };
    const parsed = readConfig({ PORT: '0', OPS_PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    config = parsed.config;
    service = await startService({ config, roles: ['api', 'projector', 'relay'], clock, logger: runLogger() });
    await eventually(
      () => ask('live', '/v1/nfse?reference=none'),
      ({ status }) => status === 200,
    );
  });

  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async (mode: Mode, path: string, body?: object, headers: object = {}): Promise<Answer> => {
    const response = await fetch(`${service.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${expected.keys[mode]}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it('shows every invoice as before', async () => {
    expect(Object.keys(expected.bodies).length).toBeGreaterThan(25);
    for (const [id, body] of Object.entries(expected.bodies)) {
      const answer = await ask(body.livemode === true ? 'live' : 'test', `/v1/nfse/${id}`);
      const { links: _links, ...shown } = jsonOf(answer);
      expect(shown).toEqual(body);
    }
  });

  it('serves every document byte for byte', async () => {
    expect(Object.keys(expected.documents).length).toBeGreaterThan(20);
    for (const [id, document] of Object.entries(expected.documents)) {
      const mode = expected.bodies[id]?.livemode === true ? 'live' : 'test';
      const { status, bytes } = await ask(mode, `/v1/nfse/${id}/xml`);
      expect(status === 200 ? createHash('sha256').update(bytes).digest('hex') : codeOf(bytes)).toBe(document);
    }
  });

  it('replays a key, refuses it for another body, and keeps every reference taken', async () => {
    const keyed = expected.posted.filter(({ key }) => key !== undefined);
    expect(keyed.length).toBeGreaterThan(3);
    for (const { mode, id, key, body } of keyed) {
      const replayed = await ask(mode, '/v1/nfse', body, { 'idempotency-key': key });
      expect([replayed.status, jsonOf(replayed).id]).toEqual([202, id]);
      const reused = await ask(mode, '/v1/nfse', { ...body, amount_in_cents: 999 }, { 'idempotency-key': key });
      expect([reused.status, codeOf(reused.bytes)]).toEqual([409, 'idempotency_key_reuse']);
    }
    const referenced = expected.posted.filter(({ body, key }) => body.reference !== undefined && key === undefined);
    expect(referenced.length).toBeGreaterThan(1);
    for (const { mode, id, body } of referenced) {
      const again = await ask(mode, '/v1/nfse', { ...body, amount_in_cents: 999 });
      expect(codeOf(again.bytes)).toBe('nfse.reference_in_use');
      expect(again.bytes.toString('utf8')).toContain(id);
    }
  });

  it('has nothing wrong in its log and its read model', async () => {
    const out: string[] = [];
    const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void out.push(text) };
    const runner = createRunner(() => undefined);
    const session = sessionOver(service.engines, config, clock, { logger: runLogger(), runner });
    const exit = await runCommand(['audit', 'verify', '--documents'], auditCommands(), async () => session, terminal);
    await runner.stop();
    expect(exit, out.join('\n')).toBe(0);
  });
});

type Answer = { status: number; bytes: Buffer };

const jsonOf = ({ bytes }: Answer): Record<string, unknown> => JSON.parse(bytes.toString('utf8'));

const codeOf = (bytes: Buffer): string => JSON.parse(bytes.toString('utf8')).error?.code;

/** PostgreSQL refuses a cluster that is not its own user's. */
const unpacked = async (archive: Buffer): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-upgrade-'));
  await chmod(folder, 0o711);
  const tar = spawnSync('tar', ['-x', '-f', '-', '-C', folder], {
    input: brotliDecompressSync(archive),
    timeout: ENDS_WITHIN_MS,
  });
  if (tar.status !== 0) throw new Error(`tar: ${tar.stderr}`);
  const user = chooseOsUser();
  const cluster = join(folder, 'data', 'postgres');
  if (user === undefined) return folder;
  for (const path of ['', ...(await readdir(cluster, { recursive: true }))])
    await chown(join(cluster, path), user.uid, user.gid);
  return folder;
};
