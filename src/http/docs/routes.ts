import type { Hono } from 'hono';
import { refuse } from '../answer.js';
import type { HttpDeps } from '../deps.js';
import { endpoint, type Handler } from '../endpoint.js';
import { openApiDocument } from '../openapi/document.js';
import { answerFile } from './answer-file.js';
import { type AssetPath, assetNames, assetSource, isAssetName, type ReadText } from './assets.js';
import { errorIndexPage, errorPage, isErrorCode } from './error-pages.js';
import { type Compress, keepFiles } from './files.js';
import { referencePage } from './reference-page.js';

/** How files come into memory; the file system and gzip unless told otherwise. */
export type DocsWays = { readText?: ReadText; compress?: Compress };

/** `/openapi.json` and `/docs`: outside `/v1`, without a credential or a quota, whatever the kill switch says. */
export const addDocs = (app: Hono, deps: HttpDeps, { readText, compress }: DocsWays = {}): void => {
  const open: HttpDeps = { ...deps, apiSwitchedOff: async () => false };
  const file = keepFiles(compress);
  const asset = (name: (typeof assetNames)[number]) => file(assetPathOf(name), assetSource(name, readText));

  /** Pages name the version of each asset, so that a browser asks for a content only once. */
  const assetPaths = async (): Promise<AssetPath> => {
    const versions = new Map<string, string>();
    for (const name of assetNames) versions.set(name, (await asset(name)).version);
    return (name) => `${assetPathOf(name)}?v=${versions.get(name) ?? ''}`;
  };
  const page = (path: string, make: (assetPath: AssetPath) => string) =>
    file(path, { contentType: 'text/html; charset=utf-8', read: async () => make(await assetPaths()) });

  const get = (path: string, handler: Handler): unknown => app.get(path, endpoint(open, path, handler));
  get('/openapi.json', async (c, call) => {
    const read = async () => JSON.stringify(openApiDocument(deps.baseUrl));
    return answerFile(c, call, await file('/openapi.json', { contentType: 'application/json', read }));
  });
  get('/docs', async (c, call) => answerFile(c, call, await page('/docs', referencePage)));
  get('/docs/errors', async (c, call) => answerFile(c, call, await page('/docs/errors', errorIndexPage)));
  get('/docs/errors/:code', async (c, call) => {
    const code = c.req.param('code') ?? '';
    if (!isErrorCode(code)) return refuse(call, { code: 'route_not_found' });
    return answerFile(c, call, await page(`/docs/errors/${code}`, (assetPath) => errorPage(code, assetPath)));
  });
  get('/docs/assets/:name', async (c, call) => {
    const name = c.req.param('name') ?? '';
    return isAssetName(name) ? answerFile(c, call, await asset(name)) : refuse(call, { code: 'route_not_found' });
  });
};

const assetPathOf = (name: string): string => `/docs/assets/${name}`;
