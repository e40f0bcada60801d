import type { Context, Hono } from 'hono';
import { commonHeaders, type HeaderRecord, pageOf, refuse } from '../answer.js';
import type { Call } from '../call.js';
import type { HttpDeps } from '../deps.js';
import { type Handler, openEndpoint, peerOf } from '../endpoint.js';
import { holdBack } from '../in-hand.js';
import { createTurns } from '../turns.js';
import { errorIndexPage, pageOfCode } from './error-pages.js';
import { type AssetPath, assetNames, assetSource, type DocsFile, isAssetName, keepFiles } from './files.js';
import { chapterNames, chapterPath, chapterTitle, guidePage, isChapterName, readGuide } from './guide.js';
import { type Html, referencePage } from './page.js';

/** `/openapi.json`, `/llms.txt` and `/docs`: outside `/v1`, without authentication, quota or kill switch. */
export const addDocs = (app: Hono, deps: HttpDeps): void => {
  const file = keepFiles();
  const asset = (name: (typeof assetNames)[number]) => file(assetPathOf(name), assetSource(name));

  /** Pages name the version of each asset, so that a browser loads each content once. */
  const assetPaths = async (): Promise<AssetPath> => {
    const versions = new Map<string, string>();
    for (const name of assetNames) versions.set(name, (await asset(name)).version);
    return (name) => `${assetPathOf(name)}?v=${versions.get(name) ?? ''}`;
  };
  const page = (path: string, make: (assetPath: AssetPath) => Html | Promise<Html>) =>
    file(path, {
      contentType: 'text/html; charset=utf-8',
      read: async () => String(await await make(await assetPaths())),
    });

  // Asking needs no key, and an answer has up to 1.5 MB: the answers to one address are paced, and one goes out in each turn of the event loop.
  const takeTurn = createTurns(1);
  const inTurn =
    (handler: Handler): Handler =>
    async (c, call) => {
      await holdBack(c, deps.pacing?.pages(peerOf(c) ?? ''));
      await takeTurn(1);
      return await handler(c, call);
    };
  // Loaded on use: a start waits for no page.
  const description = async () => (await import('../openapi/document.js')).openApiDocument(deps.baseUrl);
  const get = (path: string, handler: Handler): unknown => app.get(path, openEndpoint(deps, path, inTurn(handler)));
  /**
   * A page, and a redirect to the page from its address with a slash at the end, as people type the address. The redirect is relative, because a proxy may
   * serve the pages under a longer path.
   */
  const getPage = (path: string, handler: Handler): void => {
    get(path, handler);
    get(`${path}/`, async (c, call) => {
      const answer = await handler(c, call);
      if (answer.status === 404) return answer;
      return new Response(null, {
        status: 301,
        headers: {
          ...commonHeaders(call),
          Location: `../${c.req.path.split('/').at(-2)}`,
          'Cache-Control': SHORT,
          'X-Content-Type-Options': 'nosniff',
        },
      });
    });
  };
  const getText = (path: string, contentType: string, read: () => Promise<string>): unknown =>
    get(path, async (c, call) => answerFile(c, call, await file(path, { contentType, read })));
  getText('/openapi.json', 'application/json', async () => JSON.stringify(await description()));
  getText('/docs/collection.json', 'application/json', async () => {
    const { collectionOf } = await import('../openapi/collection.js');
    return JSON.stringify(collectionOf(await description()), null, 2);
  });
  getText('/llms.txt', 'text/plain; charset=utf-8', async () => llmsText(deps.baseUrl));
  getPage('/docs', async (c, call) => answerFile(c, call, await page('/docs', referencePage)));
  const guide = (path: string, name: Parameters<typeof guidePage>[0]) =>
    page(path, async (assetPath) => guidePage(name, await readGuide(name), assetPath));
  getPage('/docs/guia', async (c, call) => answerFile(c, call, await guide('/docs/guia', undefined)));
  getPage('/docs/guia/:name', async (c, call) => {
    const name = c.req.param('name') ?? '';
    if (!isChapterName(name)) return refuse(call, { code: 'route_not_found' });
    return answerFile(c, call, await guide(`/docs/guia/${name}`, name));
  });
  getPage('/docs/errors', async (c, call) => answerFile(c, call, await page('/docs/errors', errorIndexPage)));
  getPage('/docs/errors/:code', async (c, call) => {
    const code = c.req.param('code') ?? '';
    const make = pageOfCode(code);
    if (make === undefined) return refuse(call, { code: 'route_not_found' });
    return answerFile(c, call, await page(pageOf(code), make));
  });
  get('/docs/assets/:name', async (c, call) => {
    const name = c.req.param('name') ?? '';
    return isAssetName(name) ? answerFile(c, call, await asset(name)) : refuse(call, { code: 'route_not_found' });
  });
};

/** Caches keep pages for five minutes, and redirects to them too, which may otherwise be kept without an end. */
const SHORT = 'public, max-age=300';

const assetPathOf = (name: string): string => `/docs/assets/${name}`;

/** 200 in the encoding that the client takes, or 304 for a version that the client has (RFC 9110 sections 8.8.3 and 13.1.2). */
const answerFile = (c: Context, call: Call, file: DocsFile): Response => {
  const zipped = takesGzip(c.req.header('accept-encoding') ?? '');
  const etag = `"${file.version}${zipped ? '-gzip' : ''}"`;
  const headers: HeaderRecord = {
    ...commonHeaders(call),
    ETag: etag,
    Vary: 'Accept-Encoding',
    // A path that names the content's version never gets other content.
    'Cache-Control': c.req.query('v') === file.version ? 'public, max-age=31536000, immutable' : SHORT,
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  if (isAmong(c.req.header('if-none-match') ?? '', etag)) return new Response(null, { status: 304, headers });
  headers['Content-Type'] = file.contentType;
  if (zipped) headers['Content-Encoding'] = 'gzip';
  return new Response(zipped ? file.gzip : file.plain, { status: 200, headers });
};

/**
 * Redoc sets styles by script only: element by element, as rules of a style element that is empty when it enters the page, and as one text of its
 * own. The hashes are those of an empty text and of that text, so no other style in a page is allowed.
 */
const REDOC_STYLES = [
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
].join(' ');

const POLICY =
  `default-src 'self'; style-src 'self' ${REDOC_STYLES}; img-src 'self' data:; object-src 'none'; base-uri 'none'; ` +
  "form-action 'none'; frame-ancestors 'none'";

const takesGzip = (acceptEncoding: string): boolean =>
  acceptEncoding.split(',').some((part) => {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

const isAmong = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });

/** `/llms.txt`: what a program that writes programs must know, and where the pages are. `baseUrl`: origin, without a trailing slash. */
const llmsText = (baseUrl: string): string => `# Emissão de NFS-e

> API REST que emite, consulta, cancela e baixa notas fiscais de serviço (NFS-e) pelo sistema nacional. JSON, valores inteiros em centavos.

Regras que um programa deve seguir:

- 202 quer dizer aceita, não autorizada. Consulte GET /v1/nfse/{id} a cada 3 segundos, no máximo, até que o status não seja queued nem processing.
- Envie em cada POST /v1/nfse uma Idempotency-Key, gravada com o corpo antes do envio, e a mesma em toda repetição. Envie também reference, o número da venda: depois de 24 horas só ela protege.
- Envie sempre cnae e service_code, um par de GET /v1/activities que o contador confirmou: sem eles a nota sai na linha padrão da empresa, qualquer que seja a descrição.
- Só com status failed é seguro emitir de novo, com outra Idempotency-Key e outra reference.
- Para corrigir uma nota: cancele, consulte até que status seja canceled e só então emita outra, com outra Idempotency-Key e outra reference.
- Uma busca vazia por reference não prova que a nota não existe: repita o mesmo POST com a mesma Idempotency-Key.
- Com status indeterminate, com um status desconhecido e com cancellation.status failed, nunca emita de novo: chame uma pessoa.
- O POST de cancelamento não se repete: se a resposta se perder, consulte a nota.
- Decida por error.code e error.retryable, nunca pelo texto de error.message. Espere os segundos de Retry-After.
- Não há webhooks.

## Referência

- [OpenAPI 3.1, com exemplos em seis linguagens](${baseUrl}/openapi.json)
- [Códigos de erro](${baseUrl}/docs/errors)

## Guia

${chapterNames.map((name) => `- [${chapterTitle(name)}](${baseUrl}${chapterPath(name)})`).join('\n')}
`;
