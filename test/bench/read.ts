import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { roles } from '../../src/runtime/config.js';
import { comparison, medianOf } from './accept.js';
import type { BareArgument, BareReady } from './bare-process.js';
import { startChild } from './child.js';
import { postUntilIssued } from './issued.js';
import type { Target } from './load-process.js';
import { atLeast, perSecond, type Row } from './report.js';
import { interleave } from './rounds.js';
import { onStage, type Stage } from './stage.js';

const INVOICES = 100;
const IN_FLIGHT = 32;
const ROUND_MS = 2_000;
const ROUNDS = 5;

/** `GET /v1/nfse/{id}` of issued invoices, against bare Hono and one SELECT of the same bodies (design section 12: 0.7). */
export const benchRead = (): Promise<readonly Row[]> =>
  onStage(roles, async (stage) => {
    const { service, load, alsoStop } = stage;
    const { connectionString } = service;
    const db = new pg.Pool({ connectionString, max: 1 });
    alsoStop(() => db.end());
    await postUntilIssued(stage, db, INVOICES);
    const bare = await startChild<BareReady>('bare-process.ts', {
      connectionString,
      recordBytes: 0,
    } satisfies BareArgument);
    alsoStop(bare.stop);
    const ids = await copyBodies(stage, db);
    const get = (target: Target) => () =>
      load({ target, what: { kind: 'get', ids }, inFlight: IN_FLIGHT, until: { milliseconds: ROUND_MS } });
    const sides = { ours: get(service), bare: get({ origin: bare.ready.origin, key: '' }) };
    const { ours, bare: theirs, ratio } = await interleave(ROUNDS, sides, (result) => result.perSecond);
    return [
      {
        name: 'read (GET by id)',
        figure: perSecond(medianOf(ours, 'perSecond'), 'requests'),
        ratio,
        aim: atLeast(0.7, ratio),
        detail: comparison(ours, theirs, IN_FLIGHT),
      },
    ];
  });

/** Gives the bare server the very bodies that the service answers with. */
const copyBodies = async ({ service }: Stage, db: pg.Pool): Promise<readonly string[]> => {
  const ids = await projectedIds(db);
  for (const id of ids) {
    const answer = await fetch(`${service.origin}/v1/nfse/${id}`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    const body = await answer.text();
    if (!body.includes('"status":"issued"')) throw new Error('an invoice that was issued is not shown so');
    await db.query('insert into bare_read (id, body) values ($1, $2)', [id, body]);
  }
  return ids;
};

/** Rows, not folds, are what is measured: so the projector must have seen them all. */
const projectedIds = async (db: pg.Pool): Promise<readonly string[]> => {
  for (;;) {
    const { rows } = await db.query<{ stream: string }>(
      `select stream from read.invoices where state like '%"kind":"issued"%' or revision >= 2`,
    );
    if (rows.length >= INVOICES) return rows.map(({ stream }) => `nfse_${stream.slice(stream.indexOf('_') + 1)}`);
    await pause(50);
  }
};
