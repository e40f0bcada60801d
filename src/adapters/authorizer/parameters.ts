import { type FiscalDate, type InForce, isDay, isInForce } from '../../domain/common/time.js';
import type { KnownParameters, ParameterQuestion } from '../../domain/municipality/parameters.js';
import type { MunicipalParametersApi, ParametersAnswer } from '../../ports/municipal-parameters.js';
import { type AdnOptions, createAdnCalls } from './adn.js';
import { refusesCertificate, whatCallShows } from './answer-table.js';
import { CERTIFICATE_REASONS, type Exchange } from './exchange.js';
import { isAlert } from './judge-answer.js';
import { type JsonBody, objectOf, readJson } from './responses.js';

/** The longest answer, the special regimes of a service, has a few kilobytes: small enough to be read in the event loop. */
const MAX_PARAMETERS_BYTES = 64 * 1024;

/** The parameters API of the ADN over mutual TLS (docs/national-system.md#parameters-api). `close` drops the connections. */
export const createMunicipalParameters = (options: AdnOptions): MunicipalParametersApi & { close(): void } => {
  const calls = createAdnCalls(options, MAX_PARAMETERS_BYTES);
  return {
    ask: async (caller, ibge, question, competence) => {
      try {
        return readParameters(question, await calls.get(caller, pathOf(ibge, question, competence)), competence);
      } catch {
        return noProof('unreadable');
      }
    },
    close: calls.close,
  };
};

/** Writes the competence as `AAAA-MM-DD`, because other forms are read month first (docs/national-system.md#parameters-api). */
const pathOf = (ibge: string, question: ParameterQuestion, competence: FiscalDate): string => {
  switch (question.kind) {
    case 'convenio':
      return `/${ibge}/convenio`;
    case 'retencoes':
      return `/${ibge}/${competence}/retencoes`;
    default:
      return `/${ibge}/${question.service}/${competence}/${question.kind}`;
  }
};

/** The member that every answer of the API to the question holds, null in a 404. A body without it does not come from the API. */
const MEMBER = {
  convenio: 'parametrosconvenio',
  aliquota: 'aliquotas',
  regimes_especiais: 'regimesespeciais',
  retencoes: 'retencoes',
} as const satisfies Record<Kind, string>;

/**
 * Judges one answer. Only a 200 or a 404 in the API's own JSON proves anything; the 404 means an inactive convênio or no such parameter. Keys are
 * read in any casing, because the items of `aliquotas` are in PascalCase (docs/national-system.md#convenio). An entry that cannot be read makes the
 * answer unreadable where that entry could be in force on the day `on`, which was asked for.
 */
export const readParameters = (question: ParameterQuestion, answer: Exchange, on: FiscalDate): ParametersAnswer => {
  const read = readAnswer(question, answer, on);
  return read.kind === 'no_proof' && mayLieWithCertificate(answer) ? { ...read, mayLieWithCertificate: true } : read;
};

/** The ADN breaks the connection of a call whose certificate it does not take (docs/national-system.md#mutual-tls). */
const BROKEN_REASONS = ['ECONNRESET', 'closed'];

const mayLieWithCertificate = (answer: Exchange): boolean => {
  if (refusesCertificate(whatCallShows(answer))) return true;
  if (answer.kind === 'answered') return false;
  return isAlert(answer.reason) || [...CERTIFICATE_REASONS, ...BROKEN_REASONS].includes(answer.reason);
};

const readAnswer = ({ kind }: ParameterQuestion, answer: Exchange, on: FiscalDate): ParametersAnswer => {
  if (answer.kind !== 'answered') return noProof(answer.reason);
  if (answer.status !== 200 && answer.status !== 404) return noProof(`http_${answer.status}`);
  const body = readJson(answer.contentType, answer.body);
  if (body === undefined) return noProof('no_json');
  if (!(MEMBER[kind] in body)) return noProof('not_the_api');
  const member = body[MEMBER[kind]];
  if (answer.status === 404) return member === null ? { kind: 'known', known: NONE[kind] } : noProof('not_the_api');
  const known = READ[kind](member, on);
  return known === undefined ? noProof('unreadable') : { kind: 'known', known };
};

const noProof = (reason: string): ParametersAnswer => ({ kind: 'no_proof', reason });

type Kind = KnownParameters['kind'];
type KnownOf<K extends Kind> = Extract<KnownParameters, { kind: K }>;

const NONE: { readonly [K in Kind]: KnownOf<K> } = {
  convenio: { kind: 'convenio', isActive: false },
  aliquota: { kind: 'aliquota', rates: [] },
  regimes_especiais: { kind: 'regimes_especiais', regimes: [] },
  retencoes: { kind: 'retencoes', article6: false, municipal: 0 },
};

const READ: { readonly [K in Kind]: (member: unknown, on: FiscalDate) => KnownOf<K> | undefined } = {
  convenio: (member) => {
    const object = objectOf(member);
    if (object === undefined) return undefined;
    return {
      kind: 'convenio',
      isActive: true,
      ...flag('sharesDocuments', object.aderenteambientenacional),
      ...flag('nationalEmitter', object.aderenteemissornacional),
      ...flag('rfbContributors', object.situacaoemissaopadraocontribuintesrfb),
    };
  },
  aliquota: (member, on) => {
    const rates = lists(member)?.flatMap(({ item }) => rateOf(item, on));
    return rates?.every((rate) => rate !== undefined) === true ? { kind: 'aliquota', rates } : undefined;
  },
  // Keyed by service, then by regime; the real body is not confirmed (docs/national-system.md#rates-and-regimes).
  regimes_especiais: (member, on) => {
    const services = objectOf(member);
    if (services === undefined) return undefined;
    const regimes = Object.values(services).flatMap((one) =>
      (lists(one) ?? [undefined]).flatMap((entry) => regimeOf(entry, on)),
    );
    return regimes.every((regime) => regime !== undefined) ? { kind: 'regimes_especiais', regimes } : undefined;
  },
  retencoes: (member) => {
    const object = objectOf(member);
    if (object === undefined) return undefined;
    const municipal = Array.isArray(object.retencoesmunicipais) ? object.retencoesmunicipais.length : 0;
    return { kind: 'retencoes', article6: objectOf(object.artigosexto)?.habilitado === true, municipal };
  },
};

/** 1 means yes and 0 no; -1 is declared in the Swagger and says nothing (docs/national-system.md#convenio). */
const flag = <Name extends string>(name: Name, value: unknown): { [K in Name]?: boolean } =>
  (value === 1 || value === 0 ? { [name]: value === 1 } : {}) as { [K in Name]?: boolean };

/** Leaves out an entry that is over and has no first day, and the percent of other days where that is no rate. Undefined for what cannot be read. */
const rateOf = (item: JsonBody | undefined, on: FiscalDate) => {
  const days = daysOf(item?.dtini, item?.dtfim, on);
  if (days === 'over') return [];
  const rate = percentOf(item?.aliq);
  if (item === undefined || days === undefined || (rate === undefined && isInForce(days, on))) return [undefined];
  return [{ ...rate, ...days, ...incidence(item.incidencia) }];
};

/**
 * The API may tell no rate (docs/national-system.md#rates-and-regimes). The item still says that the municipality administers the service. Undefined
 * for a number that is no rate.
 */
const percentOf = (value: unknown): { percent?: string } | undefined => {
  if (typeof value !== 'number') return {};
  return value >= 0 && value <= 100 ? { percent: value.toFixed(2) } : undefined;
};

const incidence = (value: unknown): { incidence?: boolean } =>
  typeof value === 'string' && /^(?:sim|n[aã]o)$/i.test(value) ? { incidence: /^sim$/i.test(value) } : {};

/** As `rateOf`. A regime of other days whose situation is no number is left out. */
const regimeOf = (entry: { name: string; item: JsonBody | undefined } | undefined, on: FiscalDate) => {
  const days = daysOf(entry?.item?.datainicio, entry?.item?.datafim, on);
  if (days === 'over') return [];
  const situation = entry?.item?.situacao;
  if (entry === undefined || days === undefined) return [undefined];
  if (typeof situation !== 'number') return isInForce(days, on) ? [undefined] : [];
  return [{ regime: entry.name.slice(0, 40), situation, ...days }];
};

/**
 * The stamps have no offset; their day is the day in the municipality. Without a last day that can be read the entry has no known end. Undefined
 * without a first day that can be read, unless the entry was over on the day `on`.
 */
const daysOf = (first: unknown, last: unknown, on: FiscalDate): InForce | 'over' | undefined => {
  const [from, until] = [dayOf(first), dayOf(last)];
  if (from !== undefined) return until === undefined ? { from } : { from, until };
  return until !== undefined && until < on ? 'over' : undefined;
};

const dayOf = (stamp: unknown): FiscalDate | undefined => {
  const day = typeof stamp === 'string' ? stamp.slice(0, 10) : '';
  return isDay(day) ? day : undefined;
};

/** The items of an object whose members are lists, each with the name of its list. */
const lists = (value: unknown): { name: string; item: JsonBody | undefined }[] | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).flatMap(([name, items]) =>
    (Array.isArray(items) ? items : [undefined]).map((item) => ({ name, item: objectOf(item) })),
  );
};
