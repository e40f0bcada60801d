import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { verifyLog } from '../../app/audit/verify-log.js';
import { type Command, done, refused } from '../../cli/command.js';
import { renderTimeline, timelineOf } from '../../cli/commands/invoice.js';
import { systemClock } from '../clock.js';
import { type Config, readConfig, roles } from '../config.js';
import { createDemoClient, DemoFailed, type DemoInvoice } from '../demo-client.js';
import { demoCompany } from '../demo-company.js';
import { makeDemoCompany } from '../first-start.js';
import { createLogger } from '../logger.js';
import { type Service, startService } from '../service.js';
import { sessionOver } from '../session.js';

const OUT = 'out';

export const demoCommand = (env: NodeJS.ProcessEnv): Command => ({
  name: 'demo',
  positionals: [],
  summary: 'watch one invoice go the whole way, in a throwaway data folder',
  options: {},
  changes: false,
  run: async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'nfse-demo-'));
    // As root the database runs as another user, who must be able to pass through.
    await chmod(dataDir, 0o711);
    const parsed = readConfig({ PATH: env.PATH, PORT: '0', OPS_PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
    if ('problems' in parsed) return refused(parsed.problems.join('; '));
    const show = stopwatch();
    try {
      const { config } = parsed;
      const logger = createLogger(config.logLevel, 'stderr');
      const service = await startService({ config, roles, clock: systemClock, logger });
      try {
        await walk(service, config, show);
      } finally {
        await service.stop();
      }
      show('service stopped');
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
    return done('', {});
  },
});

/** The main job, as a client and an auditor would do it; throws at the first thing that is not as promised. */
const walk = async (service: Service, config: Config, show: (text: string) => void): Promise<void> => {
  show(`service ready on ${service.url}: PostgreSQL, authorizer simulator, projector, issuer, API`);
  const [key] = await makeDemoCompany(service, config, systemClock, ['test']);
  if (key === undefined) throw new DemoFailed('no test key was made');
  show(`company ${demoCompany().cnpj} registered, with a throwaway certificate and a test key`);

  const client = createDemoClient(service.url, key.key);
  const accepted = await client.issue({
    amount_in_cents: 150_000,
    description: 'Desenvolvimento de sistema, parcela de {{mes_extenso}} de {{ano}}',
    customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
    reference: 'pedido-1001',
  });
  show(`POST /v1/nfse -> 202 ${accepted.status}, ${accepted.id}`);
  const issued = await client.pollUntil(
    accepted.id,
    (invoice) => invoice.status !== 'queued' && invoice.status !== 'processing',
  );
  if (issued.status !== 'issued')
    throw new DemoFailed(`the invoice ended ${issued.status}: ${issued.error?.message ?? 'no reason given'}`);
  show(`GET  /v1/nfse/{id} -> ${issued.status}, access key ${issued.access_key ?? ''}`);

  await mkdir(OUT, { recursive: true });
  const saved = await saveDocuments(client, issued);
  show(`documents saved: ${saved.join(', ')}`);

  const canceling = await client.cancel(issued.id, { reason: 'other', description: 'Cancelamento de demonstração.' });
  show(`POST /v1/nfse/{id}/cancel -> 202, cancellation ${canceling.cancellation?.status ?? ''}`);
  const canceled = await client.pollUntil(issued.id, (invoice) => invoice.cancellation?.status !== 'pending');
  if (canceled.status !== 'canceled')
    throw new DemoFailed(`the cancellation ended ${canceled.cancellation?.status ?? 'nowhere'}`);
  show(`GET  /v1/nfse/{id} -> ${canceled.status}, cancellation ${canceled.cancellation?.status ?? ''}`);

  const session = sessionOver(service.engines, config, systemClock);
  const story = await timelineOf(issued.id, session);
  if (story === undefined) throw new DemoFailed('the invoice has no events');
  const report = await verifyLog(service.engines.log);
  if (report.findings.total > 0)
    throw new DemoFailed(`the log does not verify: ${JSON.stringify(report.findings.kept)}`);
  show(`hash chain verified: ${report.events} events in ${report.streams} streams`);
  process.stdout.write(`\nThe invoice's events, as an auditor reads them:\n\n${renderTimeline(story)}\n\n`);
  process.stdout.write('Everything above ran against the simulator: SIMULADO, no fiscal document was made.\n\n');
};

const saveDocuments = async (
  client: ReturnType<typeof createDemoClient>,
  issued: DemoInvoice,
): Promise<readonly string[]> => {
  const files: readonly (readonly [string, string | undefined])[] = [
    ['nfse.xml', issued.links?.xml],
    ['nfse.pdf', issued.links?.pdf],
  ];
  const saved: string[] = [];
  for (const [name, link] of files) {
    if (link === undefined) throw new DemoFailed(`an issued invoice must have a link to its ${name}`);
    const bytes = await client.download(link);
    await writeFile(join(OUT, name), bytes);
    saved.push(`${resolve(OUT, name)} (${bytes.length} bytes)`);
  }
  return saved;
};

/** Each line shows the time since the start and since the line before. */
const stopwatch = (): ((text: string) => void) => {
  const started = performance.now();
  let last = started;
  return (text) => {
    const now = performance.now();
    process.stdout.write(
      `${((now - started) / 1000).toFixed(2).padStart(6)} s  ${`+${Math.round(now - last)} ms`.padStart(9)}  ${text}\n`,
    );
    last = now;
  };
};
