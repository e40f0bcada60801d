import { pino } from 'pino';
import { expect, it } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import { taxRegistry } from '../../../projections/tax-registry.js';
import { registryStream } from '../../../src/domain/registry/events.js';
import { prepareProjections } from '../../../src/projector/projector.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import type { Parts } from '../../../src/runtime/roles/parts.js';
import { startProjector } from '../../../src/runtime/roles/projector.js';
import { eventually } from '../../support/eventually.js';
import { accepted, attempted, streamOf } from '../../support/fixture/histories.js';
import { gate } from '../../support/gate.js';
import { projecting } from '../../support/harness/projecting.js';
import { appendFromTheFuture, clock } from '../../support/harness/projector.js';
import { plant } from '../../support/planted.js';
import { describeWithPostgres } from '../../support/postgres.js';

describeWithPostgres('the role projector', () => {
  const harness = projecting();

  it('has no halted projection any more when a rebuild mended its rows during a pause of the log', async () => {
    const halted = new Set<string>();
    const stops: (() => Promise<void>)[] = [];
    /** The projector runs, the log pauses, an operator rebuilds, the projector runs again. */
    const whileLogCoversCheckpoint = async (
      stopping: AbortSignal,
      project: (signal: AbortSignal) => Promise<void>,
    ): Promise<void> => {
      const pause = new AbortController();
      const running = project(pause.signal);
      await harness.append(streamOf('live', 1), [accepted('live', 1)]);
      await eventually(() => harness.caughtUp());
      await harness.pool.query('delete from read.invoices');
      await harness.append(streamOf('live', 1), [attempted(1, 5)]);
      await eventually(async () => halted.has('invoices'));
      pause.abort();
      await running;
      expect(await harness.rebuild(invoices)).toMatchObject({ kind: 'live' });
      await project(stopping);
    };
    const parts = {
      engines: { log: harness.log, pool: harness.pool },
      clock,
      guards: { whileLogCoversCheckpoint },
      logger: createLogger('silent', 'stderr'),
      runner: { onStop: (_name: string, stop: () => Promise<void>) => stops.push(stop) },
      diskSpace: { record: () => undefined },
    };
    startProjector(parts as unknown as Parts, halted);
    await eventually(async () => halted.has('invoices'));
    await eventually(async () => !halted.has('invoices'));
    await harness.append(streamOf('live', 2), [accepted('live', 2)]);
    await eventually(() => harness.caughtUp());
    expect(halted).toEqual(new Set());
    for (const stop of stops) await stop();
  });

  it('shows as halted when the rows are of another log, until the work after a pause finds them mended', async () => {
    await prepareProjections(harness.pool, harness.log, clock, [invoices]);
    const halted = new Set<string>();
    const stops: (() => Promise<void>)[] = [];
    const log = { ...harness.log, identity: async () => 'another log' };
    const engines = { log, pool: harness.pool };
    const pausing = gate();
    const twice = async (stopping: AbortSignal, project: (signal: AbortSignal) => Promise<void>): Promise<void> => {
      await project(stopping);
      await pausing.opened;
      engines.log.identity = harness.log.identity;
      await project(stopping);
    };
    const parts = {
      engines,
      clock,
      guards: { whileLogCoversCheckpoint: twice },
      logger: createLogger('silent', 'stderr'),
      runner: { onStop: (_name: string, stop: () => Promise<void>) => stops.push(stop) },
      diskSpace: { record: () => undefined },
    };
    startProjector(parts as unknown as Parts, halted);
    await eventually(async () => halted.has('projector'));
    pausing.open();
    await eventually(async () => halted.size === 0);
    await harness.append(streamOf('live', 1), [accepted('live', 1)]);
    await eventually(() => harness.caughtUp());
    for (const stop of stops) await stop();
  });

  it('warns that a newer program has replaced the rows, as each upgrade does, and names no halt', async () => {
    await prepareProjections(harness.pool, harness.log, clock, [invoices]);
    expect(await harness.rebuild({ ...invoices, version: invoices.version + 1 })).toMatchObject({ kind: 'live' });
    const lines: Record<string, unknown>[] = [];
    const stops: (() => Promise<void>)[] = [];
    const parts = {
      engines: { log: harness.log, pool: harness.pool },
      clock,
      guards: {
        whileLogCoversCheckpoint: (stopping: AbortSignal, project: (signal: AbortSignal) => Promise<void>) =>
          project(stopping),
      },
      logger: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      runner: { onStop: (_name: string, stop: () => Promise<void>) => stops.push(stop) },
      diskSpace: { record: () => undefined },
    };
    const halted = new Set<string>();
    startProjector(parts as unknown as Parts, halted);
    await eventually(async () => lines.some(({ name }) => name === 'invoices'));
    for (const stop of stops) await stop();
    expect(lines.filter(({ name }) => name === 'invoices')).toMatchObject([
      {
        level: pino.levels.values.warn,
        msg: 'a newer program keeps the rows of a projection',
        reason: `its live rows are of version ${invoices.version + 1}, this program knows ${invoices.version}`,
      },
    ]);
    expect(halted).toEqual(new Set());
  });

  it('says where a projection halted without the name of a stream that holds the CNPJ of a customer', async () => {
    const planted = plant();
    const lines: Record<string, unknown>[] = [];
    const stops: (() => Promise<void>)[] = [];
    const run = (stopping: AbortSignal, project: (signal: AbortSignal) => Promise<void>) => project(stopping);
    const parts = {
      engines: { log: harness.log, pool: harness.pool },
      clock,
      guards: { whileLogCoversCheckpoint: run },
      logger: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      runner: { onStop: (_name: string, stop: () => Promise<void>) => stops.push(stop) },
      diskSpace: { record: () => undefined },
    };
    const invoice = streamOf('live', 1);
    await appendFromTheFuture(harness.log, registryStream(planted.cnpj), 'RegistryEntryPut');
    await appendFromTheFuture(harness.log, invoice, 'InvoiceAccepted');
    const halted = new Set<string>();
    startProjector(parts as unknown as Parts, halted);
    await eventually(async () => halted.has(taxRegistry.name) && halted.has('invoices'));
    for (const stop of stops) await stop();
    const of = (name: string) => lines.find((line) => line.msg === 'a projection halted' && line.name === name);
    expect(of(taxRegistry.name)).toMatchObject({
      stream: 'registry-…',
      type: 'RegistryEntryPut',
      position: expect.any(String),
    });
    expect(of('invoices')).toMatchObject({ stream: invoice, invoice_id: expect.stringMatching(/^nfse_/) });
    expect(JSON.stringify(lines)).not.toContain(planted.cnpj);
  });
});
