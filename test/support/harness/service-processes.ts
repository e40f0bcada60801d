import { join } from 'node:path';
import { putCompanyFile } from '../../../src/app/operator/company/company-commands.js';
import { apiCommands } from '../../../src/cli/commands/api.js';
import { certificateCommands } from '../../../src/cli/commands/certificate.js';
import { companyCommands } from '../../../src/cli/commands/company.js';
import { keyCommands } from '../../../src/cli/commands/key.js';
import { publicInvoiceId } from '../../../src/domain/common/ids.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { type CarefulClient, createCarefulClient } from './careful-client.js';
import { type Operator, openOperator } from './operator.js';
import { type Program, startProgram } from './processes.js';

type Ask = { key?: string; body?: object; idempotencyKey?: string };

export type ServiceProcess = {
  origin: string;
  /** Of its simulator; empty when the process has none. */
  controlUrl: string;
  /** With the company's test key. */
  client: CarefulClient;
  /** A POST when there is a body; with the company's test key unless another is given, `''` for none. */
  ask(path: string, options?: Ask): Promise<Response>;
  output: Program['output'];
  /** Asks it to stop, as an operator does, and waits for its end. */
  stop(): Promise<unknown>;
  kill(): Promise<void>;
};

export type ServiceProcesses = {
  /** Works on the same database, in the process of the test. */
  operator: Operator;
  /** The company's test key that every process is asked with. */
  testKey: string;
  /** Another test key of the company, with its id. */
  newKey(): Promise<{ id: string; key: string }>;
  /** `roles` as `serve --role` takes them. One process at most may have the role issuer: it runs the simulator. */
  start(roles: string, env?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** Public ids and amounts of all invoices that the log has accepted. */
  accepted(): Promise<readonly { id: string; amountInCents: number }[]>;
  close(): Promise<void>;
};

const MOST_EVENTS = 10_000;

/** The demo company in a separate database, on which any number of processes of the service can be started. */
export const openServiceProcesses = async (): Promise<ServiceProcesses> => {
  const operator = await openOperator([...companyCommands, ...certificateCommands, ...keyCommands, ...apiCommands]);
  const registration = demoCompany();
  const { cnpj } = registration;
  await putCompanyFile(registration, operator.session.companyDeps('test'));
  const operate = async (...argv: string[]): Promise<Record<string, unknown>> => {
    const { exit, json } = await operator.runJson(...argv);
    if (exit !== 0) throw new Error(`${argv.join(' ')} exited with ${exit}: ${JSON.stringify(json)}`);
    return json;
  };
  const newKey = async () => (await operate('key', 'create', cnpj, '--mode', 'test')) as { id: string; key: string };
  await operate('certificate', 'issue-demo', cnpj);
  await operate('company', 'enable', cnpj);
  const { key } = await newKey();
  const started: ServiceProcess[] = [];
  return {
    operator,
    testKey: key,
    newKey,
    start: async (roles, env = {}) => {
      const process = await startProcess(roles, key, operator, env);
      started.push(process);
      return process;
    },
    accepted: async () =>
      (await operator.session.log.readAll({ prefixes: ['nfse'], after: null, limit: MOST_EVENTS })).flatMap(
        ({ type, data }) =>
          type === 'InvoiceAccepted'
            ? [{ id: publicInvoiceId(String(data.invoiceId)), amountInCents: Number(data.amountInCents) }]
            : [],
      ),
    close: async () => {
      await Promise.all(started.map((process) => process.kill()));
      await operator.close();
    },
  };
};

type Ready = { url: string; simulator_control_url?: string };

const startProcess = async (
  roles: string,
  testKey: string,
  operator: Operator,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> => {
  const { folder, database } = operator;
  const { ready, kill, stop, output } = await startProgram<Ready>(['src/main.ts', 'serve', '--role', roles], {
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL: database.connectionString,
    MASTER_KEY_FILE: join(folder, 'master.key'),
    RATE_WRITE_PER_MINUTE: '100000',
    RATE_READ_PER_MINUTE: '100000',
    SWEEP_INTERVAL_S: '1',
    ...env,
  });
  return {
    origin: ready.url,
    controlUrl: ready.simulator_control_url ?? '',
    client: createCarefulClient(ready.url, testKey),
    ask: (path, { key = testKey, body, idempotencyKey } = {}) =>
      fetch(`${ready.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    output,
    stop,
    kill,
  };
};
