import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pfxOf } from '../support/fixture/pfx.js';
import { openTcpLine, type TcpLine } from '../support/tcp-line.js';
import type { LedgerNote, ReceivedCall } from './judge/raw.js';
import { type Program, startNfse } from './program.js';

/** The simulator as a separate process, which no mishap of the run ends, behind a line that can be cut. */
export type AuthorizerOfRun = {
  folder: string;
  /** Through the line. */
  urls: { test: string; live: string };
  caFile: string;
  line: TcpLine;
  orderFault(order: object): Promise<void>;
  clearFaults(): Promise<void>;
  moveClock(offsetSeconds: number): Promise<void>;
  ledger(): Promise<readonly LedgerNote[]>;
  calls(): Promise<readonly ReceivedCall[]>;
  /** A PFX of this company, and the file with its password. */
  pfx(cnpj: string, name: string): Promise<{ pfx: string; passwordFile: string }>;
  /** Copies the authorizer's files, documents included. */
  keepLedgers(to: string): Promise<readonly string[]>;
  program: Program;
  stop(): Promise<void>;
};

const PASSWORD = 'only for the simulator';

export const startAuthorizer = async (): Promise<AuthorizerOfRun> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-proof-authorizer-'));
  const program = startNfse(['simulator'], { DATA_DIR: home });
  const ready = await program.ready;
  const controlUrl = String(ready.simulator_control_url);
  const urls = ready.simulator as { test: string; live: string };
  const { hostname, port } = new URL(urls.test);
  const line = await openTcpLine(hostname, Number(port));
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${controlUrl}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw new Error(`the simulator's control port refused ${path}: ${await response.text()}`);
    return await response.json();
  };
  const caFile = join(home, 'ca.pem');
  const through = (url: string): string => {
    const address = new URL(url);
    address.port = String(line.port);
    return address.href;
  };
  return {
    folder: join(home, 'simulator'),
    urls: { test: through(urls.test), live: through(urls.live) },
    caFile,
    line,
    orderFault: async (order) => void (await control('POST', 'faults', order)),
    clearFaults: async () => void (await control('DELETE', 'faults')),
    moveClock: async (offsetSeconds) => void (await control('POST', 'clock', { offset_s: offsetSeconds })),
    ledger: async () => (await control('GET', 'ledger')) as readonly LedgerNote[],
    calls: async () => (await control('GET', 'calls')) as readonly ReceivedCall[],
    pfx: async (cnpj, name) => {
      const made = (await control('POST', 'certificates', { cnpj, name })) as Record<string, string>;
      const [pfx, passwordFile] = [join(home, `${cnpj}.pfx`), join(home, `${cnpj}.txt`)];
      const bytes = pfxOf(made.private_key_pem ?? '', [made.certificate_pem ?? '', made.ca_pem ?? ''], {
        password: PASSWORD,
        algorithm: 'aes256',
      });
      await writeFile(pfx, bytes, { mode: 0o600 });
      await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
      await writeFile(caFile, made.ca_pem ?? '');
      return { pfx, passwordFile };
    },
    keepLedgers: async (to) => {
      const names = ['ledger-test.ndjson', 'ledger-live.ndjson'];
      await Promise.all(names.map((name) => copyFile(join(home, 'simulator', name), join(to, name))));
      return names;
    },
    program,
    stop: async () => {
      await line.close();
      program.signal('SIGTERM');
      await program.ended;
      await rm(home, { recursive: true, force: true });
    },
  };
};
