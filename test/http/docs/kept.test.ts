import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import zlib, { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HttpDeps } from '../../../src/http/deps.js';
import { addDocs } from '../../../src/http/docs/routes.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const PATHS = ['/docs', '/docs/errors', '/docs/errors/not_found', '/docs/assets/redoc.standalone.js', '/openapi.json'];

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** The routes of the documentation, and what they call to read and to compress. */
const counted = () => {
  const [read, compress] = [vi.spyOn(files, 'readFile'), vi.spyOn(zlib, 'gzip')];
  syncBuiltinESMExports();
  const app = new Hono();
  const deps = {
    newRequestId: () => 'req_1',
    baseUrl: 'https://nfse.example',
    apiState: async () => 'suspended',
    isUnavailable: () => false,
    isOverloaded: () => false,
    isOwnOverload: () => false,
  };
  addDocs(app, deps as unknown as HttpDeps);
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    await app.request(path, { headers });
  const work = () => [read.mock.calls.length, compress.mock.calls.length];
  return { read, work, get };
};

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

describe('a page or a file of the docs', () => {
  it('is read and compressed once, however often it is asked for', async () => {
    const { work, get } = counted();
    await Promise.all(PATHS.flatMap((path) => [get(path), get(path, { 'accept-encoding': 'gzip' })]));
    const once = [4, 4 + PATHS.length - 1];
    expect(work()).toEqual(once);
    for (let n = 0; n < 20; n += 1)
      for (const path of PATHS)
        expect((await get(path, n % 2 === 0 ? {} : { 'accept-encoding': 'gzip' })).status).toBe(200);
    expect(work()).toEqual(once);
  });

  it('that could not be read is read again', async () => {
    const { read, get } = counted();
    read.mockRejectedValueOnce(new Error('no such file'));
    const path = '/docs/assets/style.css';
    expect((await get(path)).status).toBe(500);
    expect((await get(path)).status).toBe(200);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it.each(PATHS)('%s is the same in both forms, each with an ETag of its own', async (path) => {
    const { get } = counted();
    const plain = await get(path);
    const zipped = await get(path, { 'accept-encoding': 'br, gzip;q=0.8' });
    for (const { headers } of [plain, zipped]) expect(headers.get('vary')).toBe('Accept-Encoding');
    expect([plain.headers.get('content-encoding'), zipped.headers.get('content-encoding')]).toEqual([null, 'gzip']);
    expect(plain.headers.get('etag')).toMatch(/^"[0-9a-f]{16}"$/);
    expect(zipped.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    expect(gunzipSync(await bytesOf(zipped))).toEqual(await bytesOf(plain));
  });

  it.each(['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.000', 'xgzip'])(
    'comes uncompressed to a client that takes "%s"',
    async (accepted) => {
      const response = await counted().get('/docs', { 'accept-encoding': accepted });
      expect(response.headers.has('content-encoding')).toBe(false);
    },
  );

  it('is not sent again to a client that has it', async () => {
    const { get } = counted();
    for (const path of PATHS)
      for (const form of ['identity', 'gzip']) {
        const etag = (await get(path, { 'accept-encoding': form })).headers.get('etag') ?? '';
        for (const has of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          const response = await get(path, { 'accept-encoding': form, 'if-none-match': has });
          expect(response.status).toBe(304);
          expect(response.headers.get('etag')).toBe(etag);
          expect(await response.text()).toBe('');
        }
        const other = await get(path, { 'accept-encoding': form, 'if-none-match': '"other"' });
        expect(other.status).toBe(200);
      }
  });

  it('may be kept permanently under a path with its version, which pages use; any other only for minutes', async () => {
    const { get } = counted();
    const html = await (await get('/docs')).text();
    const targets = [...html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]*)"/g)].map(([, target = '']) => target);
    expect(targets).toHaveLength(3);
    const cachingOf = async (path: string) => (await get(path)).headers.get('cache-control');
    for (const target of targets) {
      expect(await cachingOf(target)).toBe('public, max-age=31536000, immutable');
      for (const other of [target.split('?')[0] ?? '', `${target}0`])
        expect(await cachingOf(other)).toBe('public, max-age=300');
    }
    for (const path of ['/docs', '/docs/errors', '/openapi.json'])
      expect(await cachingOf(path)).toBe('public, max-age=300');
  });
});

it.each([...PATHS, '/docs/assets/style.css', '/docs/guia', '/docs/guia/limites', '/llms.txt'])(
  'with the docs switched off %s is route_not_found',
  async (path) => {
    const { call } = createHarness({ docs: false });
    await expectRefusal(await call(path, { key: 'none' }), 404, 'route_not_found');
  },
);
