import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isCnpj, isCpf } from '../../src/domain/common/cnpj.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
import { FolderInUse } from '../../src/simulator/options.js';
import { startSimulator } from '../../src/simulator/start.js';
import { lockFolder } from '../../src/simulator/state/folder-lock.js';
import { openLedger } from '../../src/simulator/state/ledger.js';
import {
  COMPANY,
  codesOf,
  dpsIdOf,
  issue,
  keyOf,
  openSimulatorHarness,
  type SimulatorHarness,
  tables,
  testClock,
} from '../support/harness/simulator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('what a simulator keeps', () => {
  let harness: SimulatorHarness;
  beforeEach(async () => {
    harness = await openSimulatorHarness();
  });
  afterEach(() => harness.close());

  it('is all there after a start: notes, numbering, registries, certificates', async () => {
    const first = await issue(harness);
    const company = { cnpj: COMPANY, cnc: { municipal_registration: '9' } };
    await harness.control('POST', 'registry', { environment: 'test', company });
    const { caPem } = harness.simulator;
    await harness.restart();
    expect(harness.simulator.caPem).toBe(caPem);
    expect(codesOf(await issue(harness))).toEqual(['E0014']);
    expect(keyOf(await harness.call('GET', `/dps/${dpsIdOf({})}`))).toBe(keyOf(first));
    const fetched = await harness.call('GET', `/nfse/${keyOf(first)}`);
    expect(fetched.json.nfseXmlGZipB64).toBe(first.json.nfseXmlGZipB64);
    expect(codesOf(await issue(harness, { number: 2 }))).toEqual(['E0116']);
    const second = await issue(harness, { number: 2, im: '<IM>9</IM>' });
    expect(keyOf(second).slice(23, 36)).toBe('0000000000002');
  });

  it('is in the file before the answer comes', async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5].map((number) => issue(harness, { number })));
    const written = await readFile(join(harness.folder, 'ledger-test.ndjson'), 'utf8');
    for (const answer of answers) expect(written).toContain(`"accessKey":"${keyOf(answer)}"`);
  });

  it('survives a torn last line', async () => {
    await issue(harness);
    await harness.simulator.close();
    const path = join(harness.folder, 'ledger-test.ndjson');
    await appendFile(path, '{"kind":"note","accessKey":"123');
    await harness.restart();
    expect(codesOf(await issue(harness))).toEqual(['E0014']);
    expect((await issue(harness, { number: 2 })).status).toBe(201);
    await harness.restart();
    expect(codesOf(await issue(harness, { number: 2 }))).toEqual(['E0014']);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['note', 'note']);
  });

  it('is refused to a second simulator, which leaves the first as it was', async () => {
    const again = startSimulator({ folder: harness.folder, port: 0, controlPort: 0, clock: harness.clock, tables });
    await expect(again).rejects.toBeInstanceOf(FolderInUse);
    expect((await issue(harness)).status).toBe(201);
  });

  it('serves new clients while it runs', async () => {
    const cnpj = '98765432000198';
    const identity = await issueClientCertificate(harness.folder, { cnpj, name: 'Nova', clock: harness.clock });
    expect((await harness.call('GET', `/dps/${dpsIdOf({ cnpj })}`, { identity })).status).toBe(404);
  });
});

/** A folder whose name is too long for the address of a socket in it. */
const longFolder = async (): Promise<string> => {
  const folder = join(temporaryFolder(), 'a-name-'.repeat(15));
  await mkdir(folder);
  return await realpath(folder);
};

describe('a folder with a long name', () => {
  const made: string[] = [];
  afterEach(() => Promise.all(made.splice(0).map((one) => rm(one, { recursive: true }))));

  it('is locked without anything that another user of the machine could have made before', async () => {
    const folder = await longFolder();
    const foreseen = join(tmpdir(), `nfse-sim-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`);
    await mkdir(foreseen);
    made.push(foreseen);
    await writeFile(join(foreseen, 'package.lock'), 'of somebody else');
    const squatter = createServer().listen(join(foreseen, 'x.lock'));
    await once(squatter, 'listening');
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toBeInstanceOf(FolderInUse);
    await lock.release();
    await (await lockFolder(folder)).release();
    expect(await readdir(join(folder, 'lock'))).toEqual([]);
    expect(await readdir(foreseen)).toEqual(['package.lock', 'x.lock']);
    squatter.close();
  });

  it('loses no file that is not a socket', async () => {
    const folder = await longFolder();
    await mkdir(join(folder, 'lock'));
    await writeFile(join(folder, 'lock', 'package.lock'), 'kept');
    await (await lockFolder(folder)).release();
    expect(await readdir(join(folder, 'lock'))).toEqual(['package.lock']);
  });
});

describe('a folder whose owner was killed', () => {
  it.each([
    ['short', () => temporaryFolder()],
    ['long', longFolder],
  ])('belongs to the next simulator, with a %s name', async (_length, folderOf) => {
    const folder = await folderOf();
    const lock = new URL('../../src/simulator/state/folder-lock.ts', import.meta.url).href;
    const script = `import(${JSON.stringify(lock)}).then(async ({ lockFolder }) => {
      await lockFolder(${JSON.stringify(folder)}); process.stdout.write('locked'); setInterval(() => {}, 1000); });`;
    const owner = spawn(process.execPath, ['--import', 'tsx', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => owner.stdout.once('data', resolve));
    const options = { folder, port: 0, controlPort: 0, clock: testClock(), tables };
    await expect(startSimulator(options)).rejects.toBeInstanceOf(FolderInUse);
    const gone = new Promise((resolve) => owner.once('exit', resolve));
    owner.kill('SIGKILL');
    await gone;
    const simulator = await startSimulator(options);
    await simulator.close();
  });
});

describe('a damaged ledger', () => {
  it('is refused when the damage is not at its end', async () => {
    const path = join(temporaryFolder(), 'ledger.ndjson');
    await writeFile(path, 'nonsense\n');
    await expect(openLedger(path)).rejects.toThrow('damaged');
  });

  const NOTE = {
    accessKey: '3'.repeat(50),
    dpsId: 'DPS1',
    cnpj: COMPANY,
    number: 1,
    municipality: '3304557',
    amountInCents: 150000,
    authorizedAt: '2026-11-21T12:00:00.000Z',
  };

  it('is refused when what is damaged still reads as a record or a document', async () => {
    const path = join(temporaryFolder(), 'ledger.ndjson');
    const ledger = await openLedger(path);
    ledger.addNote(NOTE, 'H4sIAAAA');
    await ledger.close();
    const written = await readFile(path, 'utf8');
    for (const [from, to] of [
      ['150000', '150001'],
      ['"accessKey"', '"accesskey"'],
      ['H4sIAAAA', 'H4sIAAAB'],
      ['"}\n', ' }\n'],
    ] as const) {
      await writeFile(path, written.replace(from, to));
      await expect(openLedger(path)).rejects.toThrow(`${path} is damaged at byte 0`);
    }
  });

  it('of an earlier version, whose lines have no sum, is read as it is', async () => {
    const path = join(temporaryFolder(), 'ledger.ndjson');
    await writeFile(path, `${JSON.stringify({ kind: 'note', ...NOTE, document: 'H4sIAAAA' })}\n`);
    const ledger = await openLedger(path);
    expect(ledger.noteByDps('DPS1')).toEqual(NOTE);
    expect(await ledger.noteDocument(NOTE.accessKey)).toBe('H4sIAAAA');
    await ledger.close();
  });
});

describe('check digits', () => {
  it('accept real numbers, and one pair of digits for any other', () => {
    for (const cnpj of ['12345678000195', '11111111000191', '12ABC34501DE35']) expect(isCnpj(cnpj)).toBe(true);
    expect(isCpf('12345678909')).toBe(true);
    const body = fc.stringMatching(/^[0-9]{9}$/).filter((digits) => !/^(.)\1*$/.test(digits));
    const everyPair = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));
    fc.assert(fc.property(body, (digits) => everyPair.filter((pair) => isCpf(digits + pair)).length === 1));
    for (const repeated of ['0', '1', '9'])
      expect([isCnpj(repeated.repeat(14)), isCpf(repeated.repeat(11))]).toEqual([false, false]);
  });
});
