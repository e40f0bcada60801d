import { chapterNames, chapterPath, chapterTitle } from './guide.js';

/** `/llms.txt`: what a program that writes programs must know, and where the pages are. `baseUrl`: origin, without a trailing slash. */
export const llmsText = (baseUrl: string): string => `# Emissão de NFS-e

> API REST que emite, consulta, cancela e baixa notas fiscais de serviço (NFS-e) pelo sistema nacional. JSON, valores inteiros em centavos.

Regras que um programa deve seguir:

- 202 quer dizer aceita, não autorizada. Consulte GET /v1/nfse/{id} a cada 3 segundos, no máximo, até que o status não seja queued nem processing.
- Envie em cada POST /v1/nfse uma Idempotency-Key, gravada com o corpo antes do envio, e a mesma em toda repetição. Envie também reference, o número da venda: depois de 24 horas só ela protege.
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
