import { randomInt } from 'node:crypto';
import { present } from '../../domain/common/present.js';
import { brasiliaStamp, epochMs, type Instant } from '../../domain/common/time.js';
import type { Environment, World } from '../environment.js';
import { type Refusal, refusal } from '../refusal.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type JsonObject = { readonly [name: string]: Json };

/** What the client gets; `cut` closes the connection without an answer, `reset` breaks it off (TCP RST). */
export type Answer =
  | { kind: 'json'; status: number; body: JsonObject }
  /** `application/problem+json` of the web framework (ASP.NET). */
  | { kind: 'problem'; status: number; body: JsonObject }
  /** `location`: where a redirect leads. */
  | { kind: 'html'; status: number; title: string; location?: string }
  | { kind: 'raw'; status: number; text: string }
  | { kind: 'empty'; status: number }
  | { kind: 'cut' }
  | { kind: 'reset' };

/** `versaoAplicativo` of every JSON answer, in both environments (docs/national-system.md#environments). */
export const APPLICATION_VERSION = 'SefinNacional_1.6.0';

/** A stamp as .NET writes it, with seven digits: `AAAA-MM-DDThh:mm:ss.fffffff-03:00`. */
const stamp = (at: Instant): string => {
  const text = brasiliaStamp(at);
  const fraction = `${String(epochMs(at) % 1000).padStart(3, '0')}${String(randomInt(10_000)).padStart(4, '0')}`;
  return `${text.slice(0, 19)}.${fraction}${text.slice(19)}`;
};

/** The JSON answers of an environment, which all begin with the same members. */
export const answersOf = (world: World, { tpAmb }: Environment) => {
  const json = (status: number, members: JsonObject): Answer => ({
    kind: 'json',
    status,
    body: {
      tipoAmbiente: Number(tpAmb),
      versaoAplicativo: APPLICATION_VERSION,
      dataHoraProcessamento: stamp(world.clock.now()),
      ...members,
    },
  });
  return {
    json,
    /** A refusal of `POST /nfse`: `erros` in PascalCase, and `idDPS` when the Id of the document could be read. */
    rejectedDps: (refusals: readonly Refusal[], idDPS: string | undefined, status = 400): Answer => {
      const erros = refusals.map(({ code, message, complement }) =>
        present({ Codigo: code, Descricao: message, Complemento: complement }),
      );
      return json(status, present({ idDPS, erros }));
    },
    /** A refusal of `POST .../eventos`, where `erro` is a list of camelCase items. */
    rejectedEvent: (refusals: readonly Refusal[], status = 400): Answer =>
      json(status, { erro: refusals.map(errorOf) }),
    /** The failures of a GET, where `erro` is one camelCase object. */
    failedQuery: (status: number, { code, message }: Refusal): Answer =>
      json(status, { erro: errorOf({ code, message }) }),
  };
};

const errorOf = ({ code, message, complement }: Refusal): JsonObject =>
  present({ codigo: code, descricao: message, complemento: complement });

/** The real 404 of a DPS id has environment 0 and no application version (docs/national-system.md#dps-not-found). */
export const absentDps = (world: World): Answer => ({
  kind: 'json',
  status: 404,
  body: { tipoAmbiente: 0, dataHoraProcessamento: stamp(world.clock.now()), erro: errorOf(refusal('E2404')) },
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
export const webServerPage = (status: number, location?: string): Answer => ({
  kind: 'html',
  status,
  title: TITLES[status] ?? `${status} - Server error`,
  ...(location !== undefined && { location }),
});
