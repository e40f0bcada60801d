import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/domain/common/ids.js';
import { type Config, readConfig } from '../../../src/runtime/config/config.js';
import { openAuthorizer, trustRoots } from '../../../src/runtime/engines/authorizers.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { openAuthority, openServerIdentity } from '../../../src/simulator/authority.js';
import { certificateFor } from '../../support/fixture/sefin.js';
import { type AuthorizerServer, startAuthorizerServer } from '../../support/harness/authorizer-server.js';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('whom TLS believes to be the authorizer', () => {
  const runner = createRunner(() => undefined);
  let server: AuthorizerServer;
  let caFile: string;
  let caPem: string;
  let certificate: ReturnType<typeof certificateFor>;
  beforeAll(async () => {
    const folder = temporaryFolder();
    const authority = await openAuthority(folder, systemClock);
    server = await startAuthorizerServer(
      authority,
      await openServerIdentity(folder, authority, ['127.0.0.1'], systemClock),
    );
    server.answer((_received, response) => response.writeHead(500).end());
    certificate = certificateFor(authority, systemClock.now());
    caPem = authority.certificatePem;
    caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, caPem);
  });
  afterAll(async () => {
    await runner.stop();
    await server.close();
  });

  const configOf = (env: NodeJS.ProcessEnv): Config => {
    const parsed = readConfig(env);
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    return parsed.config;
  };
  const atServer = (more: NodeJS.ProcessEnv = {}): Config =>
    configOf({ AUTHORIZER_TEST_URL: server.address, AUTHORIZER_LIVE_URL: server.address, ...more });

  const sefin = 'https://sefin.nfse.example/SefinNacional';
  const atSefin = (more: NodeJS.ProcessEnv = {}): Config =>
    configOf({ AUTHORIZER_TEST_URL: sefin, AUTHORIZER_LIVE_URL: sefin, ...more });

  /** Whether the server, which carries a certificate of a simulator's authority, got the question. */
  const isAsked = async (mode: Mode, config: Config, simulator?: { urls: Record<Mode, string>; caPem: string }) => {
    const before = server.received.length;
    const certificateOf = async () => certificate;
    const authorizer = openAuthorizer({ config, clock: systemClock, runner, simulator, certificateOf });
    await authorizer.findByDps({ mode, companyId: '12345678000195' }, 'DPS1');
    return server.received.length > before;
  };

  it('is never a simulator where the mode is not said to be simulated, though the file of an operator holds its authority', async () => {
    const config = atSefin({ AUTHORIZER_CA_FILE: caFile, SIMULATED_MODES: 'live' });
    expect(await trustRoots(config, undefined, 'live')).toContain(caPem.trim());
    expect(await trustRoots(config, undefined, 'test')).toEqual(await trustRoots(atSefin(), undefined, 'test'));
  });

  it('is a simulator of this machine whose authority an operator named, and no other', async () => {
    expect(await isAsked('live', atServer({ AUTHORIZER_CA_FILE: caFile }))).toBe(true);
    expect(await isAsked('test', atServer())).toBe(false);
  });

  it('is never the simulator of this process for a mode with an address', async () => {
    const simulator = { urls: { live: server.address, test: server.address }, caPem };
    const config = configOf({ AUTHORIZER_TEST_URL: server.address });
    expect(await isAsked('live', config, simulator)).toBe(true);
    expect(await isAsked('test', config, simulator)).toBe(false);
  });

  it('is whom the authorities of an operator vouch for, in both modes', async () => {
    const file = join(temporaryFolder(), 'ca.pem');
    const [globalSign = ''] = await trustRoots(atSefin(), undefined, 'test');
    writeFileSync(file, `${globalSign}\n${caPem}`);
    const config = atSefin({ AUTHORIZER_CA_FILE: file });
    for (const mode of ['live', 'test'] as const)
      expect(await trustRoots(config, undefined, mode)).toEqual([globalSign, globalSign.trim()]);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  it.each([[['serve']], [['doctor']], [['setup', 'secrets', '/nowhere']], [['simulator']]])(
    'is refused in one line by %j',
    async (args) => {
      const program = runProgram(['src/main.ts', ...args], { NODE_TLS_REJECT_UNAUTHORIZED: '0', DATA_DIR: '/nowhere' });
      expect(await program.ended).toEqual({ code: 2, signal: null });
      expect(program.output()).toEqual({
        stdout: '',
        stderr: expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED=0 .*\n$/),
      });
    },
  );
});
