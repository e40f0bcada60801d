import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import { publicInvoiceId } from '../../../src/domain/common/ids.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { tokenOf } from '../../support/harness/console.js';
import { startChild } from '../child.js';
import { openClient, type PlainClient, postOf } from '../plain-client.js';
import { type Serving, serve } from '../serve.js';
import { demoInvoices } from './companies.js';
import type { Filled } from './filled.js';
import type { OperatorQuestion } from './operator-process.js';
import { accessKeyOf, referenceOf } from './past-invoice.js';

/** What is timed, one list of milliseconds for each. */
export const timed = [
  'POST',
  'GET',
  'find by reference',
  'console: overview',
  'console: indeterminate',
  'console: invoice',
  'console: search by reference',
  'console: search by access key',
  'console: search by document',
  "the sweeper's pass",
  'the checks of doctor',
] as const;

type Timed = (typeof timed)[number];

export type Pass = {
  times: Record<Timed, number[]>;
  readySeconds: number;
  rssMb: number;
  heapMb: number;
  diskBytes: number;
};

const POSTS_A_SECOND = 40;
const POST_SECONDS = 10;
const GETS = 500;
const FINDS = 300;
const PAGES = 12;
const DOCUMENT_SEARCHES = 3;
const SWEEPS = 6;
const CHECKS = 3;
/** So many of each before anything counts. */
const WARM_UP = 60;

/** Starts the service on a filled folder, measures, and stops it. */
export const measurePass = async (env: Record<string, string>, filled: Filled): Promise<Pass> => {
  const service = await serve(env);
  try {
    const operator = await startChild<true, OperatorQuestion, number>('growth/operator-process.ts', env);
    try {
      const times = await measureService(service, filled);
      const asked = async (question: OperatorQuestion, count: number): Promise<void> => {
        const name = question === 'sweep' ? "the sweeper's pass" : 'the checks of doctor';
        await operator.ask(question);
        for (let n = 0; n < count; n += 1) times[name].push(await operator.ask(question));
      };
      await asked('sweep', SWEEPS);
      await asked('checks', CHECKS);
      return {
        times,
        readySeconds: service.readySeconds,
        ...(await memoryOf(service)),
        diskBytes: await operator.ask('disk'),
      };
    } finally {
      await operator.stop();
    }
  } finally {
    await service.stop();
  }
};

const measureService = async ({ url, opsUrl }: Serving, { invoices, keys }: Filled): Promise<Pass['times']> => {
  const times = Object.fromEntries(timed.map((name) => [name, [] as number[]])) as Pass['times'];
  const client = openClient(url, keys.live, 16);
  try {
    const past = pastNumbers(invoices);
    const owner = { mode: 'live', companyId: demoCompany().cnpj } as const;
    const idOf = (number: number): string =>
      publicInvoiceId(invoiceIdOfReference('live', owner.companyId, referenceOf(number)));
    const get = (): Promise<number> => millisecondsOf(() => succeeded(client, `/v1/nfse/${idOf(past())}`));
    const find = (): Promise<number> =>
      millisecondsOf(() => succeeded(client, `/v1/nfse?reference=${referenceOf(past())}`));
    await paced(client, WARM_UP);
    for (let n = 0; n < WARM_UP; n += 1) [await get(), await find()];
    times.POST.push(...(await paced(client, POSTS_A_SECOND * POST_SECONDS)));
    for (let n = 0; n < GETS; n += 1) times.GET.push(await get());
    for (let n = 0; n < FINDS; n += 1) times['find by reference'].push(await find());
    const console = openConsole(opsUrl);
    const visited = async (name: Timed, count: number, visit: () => Promise<void>): Promise<void> => {
      await visit();
      for (let n = 0; n < count; n += 1) times[name].push(await millisecondsOf(visit));
    };
    await visited('console: overview', PAGES, () => console.page(''));
    await visited('console: indeterminate', PAGES, () => console.page('/indeterminate'));
    await visited('console: invoice', PAGES, () => console.page(`/invoices/${idOf(past())}`));
    await visited('console: search by reference', PAGES, () => console.search('reference', referenceOf(past())));
    await visited('console: search by access key', PAGES, () =>
      console.search('access-key', accessKeyOf(owner, past())),
    );
    await visited('console: search by document', DOCUMENT_SEARCHES, () => console.search('document', '11222333000181'));
    return times;
  } finally {
    client.close();
  }
};

/** A prime that divides no number of invoices. */
const STRIDE = 7_919;

/** Numbers of past invoices of the demo company, spread over all of them and none twice, so that no cache of the service holds any. */
const pastNumbers = (invoices: number): (() => number) => {
  const count = demoInvoices(invoices);
  let place = 0;
  return () => {
    place = (place + STRIDE) % count;
    return place + 1;
  };
};

const millisecondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const succeeded = async (client: PlainClient, path: string, body?: string): Promise<string> => {
  const answer = await client.exchange(path, body);
  if (answer.status < 200 || answer.status > 299) throw new Error(`${path} was answered with ${answer.status}`);
  return answer.body.toString();
};

/** Posts at a fixed rate, also while earlier ones wait, and then waits until the last invoice is final. */
const paced = async (client: PlainClient, count: number): Promise<readonly number[]> => {
  const begun = performance.now();
  const underWay: Promise<number>[] = [];
  let last = '';
  for (let n = 0; n < count; n += 1) {
    await pause(Math.max(0, begun + (n * 1_000) / POSTS_A_SECOND - performance.now()));
    underWay.push(
      millisecondsOf(async () => {
        last = (JSON.parse(await succeeded(client, '/v1/nfse', postOf(n))) as { id: string }).id;
      }),
    );
  }
  const times = await Promise.all(underWay);
  while (!(await succeeded(client, `/v1/nfse/${last}`)).includes('"status":"issued"')) await pause(50);
  return times;
};

const openConsole = (opsUrl: string) => {
  const opened = async (response: Response): Promise<string> => {
    if (!response.ok) throw new Error(`the console answered ${response.status}`);
    return await response.text();
  };
  const page = async (path: string): Promise<string> => await opened(await fetch(`${opsUrl}/console${path}`));
  let token: string | undefined;
  return {
    page: async (path: string): Promise<void> => void (await page(path)),
    search: async (by: string, text: string): Promise<void> => {
      token ??= tokenOf(await page(''));
      const body = new URLSearchParams({ form_token: token, operator: 'bench', by, text });
      const found = await opened(
        await fetch(`${opsUrl}/console/search`, { method: 'POST', body, headers: { origin: opsUrl } }),
      );
      if (!found.includes('nfse_')) throw new Error(`the console found nothing by ${by}`);
    },
  };
};

const memoryOf = async ({ pid, opsUrl }: Serving): Promise<{ rssMb: number; heapMb: number }> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  const metric = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1] ?? Number.NaN);
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return {
    rssMb: rss === undefined ? metric('process_resident_memory_bytes') / 1_048_576 : Number(rss) / 1_024,
    heapMb: metric('nodejs_heap_size_used_bytes') / 1_048_576,
  };
};
