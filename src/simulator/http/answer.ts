import { randomInt } from 'node:crypto';
import { present } from '../../domain/shared/present.js';
import { brasiliaStamp, epochMs, type Instant } from '../../domain/shared/time.js';
import type { Environment, World } from '../environment.js';
import type { Refusal } from '../refusal.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type JsonObject = { readonly [name: string]: Json };

/** What the client gets; `cut` closes the connection without an answer, `reset` breaks it off (TCP RST). */
export type Answer =
  | { kind: 'json'; status: number; body: JsonObject }
  /** `application/problem+json` of the web framework (ASP.NET). */
  | { kind: 'problem'; status: number; body: JsonObject }
  | { kind: 'html'; status: number; title: string }
  | { kind: 'raw'; status: number; text: string }
  | { kind: 'empty'; status: number }
  | { kind: 'cut' }
  | { kind: 'reset' };

/** `versaoAplicativo` of every JSON answer, in both environments (docs/national-system.md#environments). */
const APPLICATION_VERSION = 'SefinNacional_1.6.0';

/** The members that every JSON answer of the environment begins with. */
export const answerHead = (world: World, environment: Environment): JsonObject => ({
  tipoAmbiente: Number(environment.tpAmb),
  versaoAplicativo: APPLICATION_VERSION,
  dataHoraProcessamento: stamp(world.clock.now()),
});

/** A stamp as .NET writes it, with seven digits: `AAAA-MM-DDThh:mm:ss.fffffff-03:00`. */
export const stamp = (at: Instant): string => {
  const text = brasiliaStamp(at);
  const fraction = `${String(epochMs(at) % 1000).padStart(3, '0')}${String(randomInt(10_000)).padStart(4, '0')}`;
  return `${text.slice(0, 19)}.${fraction}${text.slice(19)}`;
};

/** 400 of `POST /nfse`: `erros` in PascalCase, and `idDPS` when the Id of the document could be read. */
export const rejectedDps = (
  world: World,
  environment: Environment,
  refusals: readonly Refusal[],
  dpsId?: string,
): Answer => ({
  kind: 'json',
  status: 400,
  body: {
    ...answerHead(world, environment),
    ...present({ idDPS: dpsId }),
    erros: refusals.map(({ code, message, complement }) =>
      present({ Codigo: code, Descricao: message, Complemento: complement }),
    ),
  },
});

/** 400 of `POST .../eventos`, where `erro` is a list of camelCase items. */
export const rejectedEvent = (world: World, environment: Environment, refusals: readonly Refusal[]): Answer => ({
  kind: 'json',
  status: 400,
  body: {
    ...answerHead(world, environment),
    erro: refusals.map(({ code, message, complement }) =>
      present({ codigo: code, descricao: message, complemento: complement }),
    ),
  },
});

/** The failures of a GET, where `erro` is one camelCase object. */
export const failedQuery = (head: JsonObject, status: number, { code, message }: Refusal): Answer => ({
  kind: 'json',
  status,
  body: { ...head, erro: { codigo: code, descricao: message } },
});

const TITLES: Readonly<Record<number, string>> = {
  307: '307 - Temporary Redirect',
  403: '403 - Forbidden: Access is denied.',
  404: '404 - File or directory not found.',
  405: '405 - HTTP verb used to access this page is not allowed.',
  413: '413 - Request Entity Too Large',
  429: '429 - Too Many Requests',
  496: '496 - SSL Certificate Required',
  500: '500 - Internal server error.',
  501: '501 - Header values specify a method that is not implemented.',
  502: '502 - Web server received an invalid response while acting as a gateway or proxy server.',
  503: '503 - Service Unavailable',
};

/** A page of the web server in front of the application; it proves nothing about a document. */
export const webServerPage = (status: number): Answer => ({
  kind: 'html',
  status,
  title: TITLES[status] ?? `${status} - Server error`,
});
