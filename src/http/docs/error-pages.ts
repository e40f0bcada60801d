import { type CatalogueEntry, type ErrorCode, errorCatalogue } from '../../domain/shared/error-catalogue.js';
import { errorExample } from '../openapi/examples.js';
import type { AssetPath } from './assets.js';
import { errorGuide } from './error-guide.js';
import { escaped, page } from './html.js';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCatalogue, code);

/** Every code with its status and cause. */
export const errorIndexPage = (assetPath: AssetPath): string => {
  const rows = codes.map(
    (code) =>
      `<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a></td>` +
      `<td>${errorCatalogue[code].status}</td><td>${escaped(errorGuide[code].cause)}</td></tr>`,
  );
  return page({
    title: 'Códigos de erro',
    assetPath,
    body: `<nav><a href="/docs">Referência da API</a></nav>
<h1>Códigos de erro</h1>
<p>Decida sempre por <code>error.code</code> e por <code>error.retryable</code>, nunca pelo texto da mensagem.</p>
<table><thead><tr><th>Código</th><th>HTTP</th><th>Causa</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`,
  });
};

/** One code: cause, what to do, whether repeating helps, an example. */
export const errorPage = (code: ErrorCode, assetPath: AssetPath): string => {
  const { status, type, param, retryable }: CatalogueEntry = errorCatalogue[code];
  const { cause, action } = errorGuide[code];
  return page({
    title: `Erro ${code}`,
    assetPath,
    body: `<nav><a href="/docs">Referência da API</a> · <a href="/docs/errors">Códigos de erro</a></nav>
<h1><code>${code}</code></h1>
<table><tbody>
<tr><th>Status HTTP</th><td>${status}</td></tr>
<tr><th>Tipo</th><td><code>${type}</code></td></tr>
<tr><th>Campo</th><td>${param === undefined ? 'varia ou nenhum' : `<code>${param}</code>`}</td></tr>
</tbody></table>
<h2>Causa</h2>
<p>${escaped(cause)}</p>
<h2>O que fazer</h2>
<p>${escaped(action)}</p>
<h2>Repetir o mesmo pedido resolve?</h2>
<p>${escaped(repeating(code, retryable))}</p>
<h2>Exemplo</h2>
<pre>${escaped(JSON.stringify(errorExample(code), undefined, 2))}</pre>`,
  });
};

/** The one code whose `retryable` depends on the invoice (spec "Errors"). */
const repeating = (code: ErrorCode, retryable: boolean): string => {
  if (code === 'nfse.not_issued')
    return 'Depende da nota: sim (retryable: true, com Retry-After) em queued e processing; não (retryable: false) nos outros casos.';
  return retryable
    ? 'Sim (retryable: true). Repita com a mesma Idempotency-Key.'
    : 'Não (retryable: false). O mesmo pedido terá a mesma resposta enquanto a causa existir.';
};
