import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { allProjections } from '../../projections/registry.js';
import { projectionStatus } from '../../src/projector/status.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { eventually } from '../support/eventually.js';
import { runProgram } from '../support/harness/processes.js';
import { dump } from '../support/harness/projector.js';
import type { RunningService } from '../support/harness/running-service.js';

type AuditReport = {
  documents: { checked: number };
  ok: boolean;
  streams: number;
  events: number;
  findings: readonly unknown[];
};

/** The output of an operator's command in a separate process, on the engines of the running service. */
const operator = async (running: RunningService, ...args: readonly string[]): Promise<unknown> => {
  const { dataDir, databaseUrl, eventStoreUrl, natsUrl, masterKeyFile } = running.config;
  const program = runProgram(['src/main.ts', ...args, '--json'], {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl ?? '',
    MASTER_KEY_FILE: masterKeyFile,
    EVENTSTORE_URL: eventStoreUrl ?? '',
    NATS_URL: natsUrl ?? '',
  });
  expect(await program.ended, program.complaint()).toEqual({ code: 0, signal: null });
  return JSON.parse(program.output().stdout);
};

const rowsOf = async ({ service }: RunningService): Promise<Rows> => {
  const rows: Rows = {};
  for (const projection of allProjections) rows[projection.name] = await dump(service.engines.pool, projection);
  return rows;
};

/**
 * Everything is rebuilt beside what is read, and is the same, byte for byte. A worker may open a certificate meanwhile, which is an
 * event: what differs by that alone is the same the next time.
 */
export const expectSameRowsAfterRebuild = async (running: RunningService): Promise<void> => {
  for (let left = TRIES; ; left -= 1) {
    const { before, after } = await rebuilt(running);
    expect(Object.values(before).flat().length).toBeGreaterThan(10);
    if (left === 1) expect(after).toEqual(before);
    if (isDeepStrictEqual(after, before)) return;
  }
};

const TRIES = 3;

type Rows = Record<string, readonly string[]>;

const rebuilt = async (running: RunningService): Promise<{ before: Rows; after: Rows }> => {
  const { pool, log, clock } = { ...running.service.engines, clock: systemClock };
  await eventually(
    () => projectionStatus(allProjections, { db: pool, log, clock }),
    (all) => all.every(({ lagSeconds }) => lagSeconds === 0),
  );
  const before = await rowsOf(running);
  await operator(running, 'projections', 'rebuild', '--all');
  return { before, after: await rowsOf(running) };
};

/** Every hash and every link of the log holds, and so does every signature. */
export const expectAudited = async (running: RunningService): Promise<void> => {
  const report = (await operator(running, 'audit', 'verify', '--documents')) as AuditReport;
  expect(report).toMatchObject({ ok: true, findings: [] });
  expect(report.events).toBeGreaterThan(40);
  expect(report.documents.checked).toBeGreaterThan(5);
};
