import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import pg from 'pg';
import { processorSeconds, serveParent } from './child.js';

/** `recordBytes` is the size of the row that a `POST` inserts; `file` is what `GET /v1/nfse/{id}/pdf` answers with. */
export type BareArgument = { connectionString: string; recordBytes: number; file: string };
export type BareReady = { origin: string };

const TABLES = `
  create table if not exists bare_write (id uuid primary key, body text not null);
  create table if not exists bare_read (id text primary key, body json not null)`;

/** The bare server for comparison: the same router, driver and database server, and one statement per request. */
await serveParent<BareArgument, 'processor seconds'>(async ({ connectionString, recordBytes, file }) => {
  const pool = new pg.Pool({ connectionString, max: 20 });
  await pool.query(TABLES);
  const record = 'x'.repeat(recordBytes);
  const app = new Hono();
  app.post('/v1/nfse', async (c) => {
    const { amount_in_cents, description } = await c.req.json();
    const id = randomUUID();
    const text = 'insert into bare_write (id, body) values ($1, $2)';
    await pool.query({ name: 'write', text, values: [id, record] });
    return c.json({ id: `nfse_${id}`, object: 'nfse', status: 'queued', amount_in_cents, description }, 202);
  });
  const bodyOf = async (c: Context, id: string): Promise<Response> => {
    const text = 'select body from bare_read where id = $1';
    const { rows } = await pool.query<{ body: object }>({ name: 'read', text, values: [id] });
    return rows[0] === undefined ? c.notFound() : c.json(rows[0].body);
  };
  app.get('/v1/nfse/:id', (c) => bodyOf(c, c.req.param('id')));
  app.get('/v1/nfse', (c) => bodyOf(c, c.req.query('reference') ?? ''));
  app.get('/v1/nfse/:id/pdf', async (c) => c.body(await readFile(file), 200, { 'content-type': 'application/pdf' }));
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ready: BareReady = { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return {
    ready,
    answer: processorSeconds,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await pool.end();
    },
  };
});
