import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Config, readConfig } from '../../src/runtime/config.js';

const problemsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  const result = readConfig(env);
  return 'problems' in result ? result.problems : [];
};

const configOf = (env: NodeJS.ProcessEnv): Config => {
  const result = readConfig(env);
  if ('problems' in result) throw new Error(result.problems.join('; '));
  return result.config;
};

describe('the environment', () => {
  it('has the defaults of the operator interface', () => {
    const config = configOf({});
    expect(config.api).toEqual({ host: '127.0.0.1', port: 3000, baseUrl: undefined });
    expect(config.ops).toEqual({ host: '127.0.0.1', port: 3001 });
    expect(config.databaseUrl).toBeUndefined();
    expect(config.authorizer).toEqual({});
    expect(config.masterKeyFile).toBe(join(config.dataDir, 'master.key'));
    expect(config.rates).toEqual({ write: 60, read: 300 });
    expect(config.limits).toEqual({
      queuedSeconds: 900,
      processingSeconds: 3600,
      cancellationSeconds: 3600,
      testRetentionSeconds: 604_800,
      sendSeconds: 30,
      lookupIntervalsSeconds: [30, 60, 120, 300, 600],
    });
  });

  it('names every wrong variable in one answer', () => {
    const problems = problemsOf({
      PORT: 'abc',
      OPS_HOST: '0.0.0.0',
      LOG_LEVEL: 'loud',
      RATE_WRITE_PER_MINUTE: '10',
      QUEUED_TIMEOUT_S: '5',
      LOOKUP_INTERVALS_S: '30,,60',
      AUTHORIZER_LIVE_URL: 'http://plain.example',
      DATABASE_URL: 'postgres://db/nfse',
      NATS_URL: 'http://queue',
    });
    const named = ['PORT', 'OPERATOR_TOKEN_FILE', 'LOG_LEVEL', 'RATE_WRITE_PER_MINUTE', 'QUEUED_TIMEOUT_S'];
    const more = ['LOOKUP_INTERVALS_S', 'AUTHORIZER_LIVE_URL', 'MASTER_KEY_FILE', 'NATS_URL'];
    for (const name of [...named, ...more])
      expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
    expect(problems).toHaveLength(9);
  });

  it('takes several NATS servers, from a mounted file too, and never shows what a bad address holds', () => {
    expect(configOf({ NATS_URL: 'nats://user:secret@a:4222,nats://b' }).natsUrl).toContain('nats://b');
    const file = join(mkdtempSync(join(tmpdir(), 'nfse-config-')), 'url');
    writeFileSync(file, 'nats://queue\n');
    expect(configOf({ NATS_URL_FILE: file }).natsUrl).toBe('nats://queue');
    expect(problemsOf({ NATS_URL: 'nats://user:secret@a,nats://other:secret@b' }).join()).not.toContain('secret');
  });

  it('takes shorter windows only for a rehearsal', () => {
    expect(problemsOf({ PROCESSING_TIMEOUT_S: '60' })).toHaveLength(1);
    expect(configOf({ PROCESSING_TIMEOUT_S: '60', ALLOW_SHORT_WINDOWS: '1' }).limits.processingSeconds).toBe(60);
  });

  it('treats an empty variable as absent', () => {
    expect(configOf({ PORT: '', BASE_URL: '' }).api).toEqual({ host: '127.0.0.1', port: 3000, baseUrl: undefined });
  });

  it('reads the database address from a mounted file, and refuses both', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'nfse-config-')), 'url');
    writeFileSync(file, 'postgres://db/nfse\n');
    const env = { DATABASE_URL_FILE: file, MASTER_KEY_FILE: '/run/secrets/key' };
    expect(configOf(env).databaseUrl).toBe('postgres://db/nfse');
    expect(problemsOf({ ...env, DATABASE_URL: 'postgres://db/other' })).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set',
    ]);
    expect(problemsOf({ ...env, DATABASE_URL_FILE: '/nowhere' })).toContain('DATABASE_URL_FILE cannot be read');
  });
});
