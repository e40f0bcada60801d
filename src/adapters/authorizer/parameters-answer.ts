import type { ParameterQuestion, ToldParameters } from '../../domain/municipality/parameters.js';
import type { FiscalDate } from '../../domain/shared/time.js';
import type { ParametersAnswer } from '../../ports/municipal-parameters.js';
import type { Exchange } from './exchange.js';
import { type JsonBody, objectOf, readJson } from './responses.js';

/** The member that every answer to the question holds, null in a 404: without it the body is somebody else's. */
const MEMBER = {
  convenio: 'parametrosconvenio',
  aliquota: 'aliquotas',
  regimes_especiais: 'regimesespeciais',
  retencoes: 'retencoes',
} as const satisfies Record<ToldParameters['kind'], string>;

/**
 * Judges one answer. Only a 200, or a 404 in the API's own JSON (an inactive convênio, no such parameter), tells anything;
 * keys are read whatever their casing, for the items of `aliquotas` alone are in PascalCase.
 */
export const readParameters = ({ kind }: ParameterQuestion, answer: Exchange): ParametersAnswer => {
  if (answer.kind !== 'answered') return noProof(answer.reason);
  if (answer.status !== 200 && answer.status !== 404) return noProof(`http_${answer.status}`);
  const body = readJson(answer.contentType, answer.body);
  if (body === undefined) return noProof('no_json');
  if (!(MEMBER[kind] in body)) return noProof('not_the_api');
  const member = body[MEMBER[kind]];
  if (answer.status === 404) return member === null ? { kind: 'told', told: NONE[kind] } : noProof('not_the_api');
  const told = READ[kind](member);
  return told === undefined ? noProof('unreadable') : { kind: 'told', told };
};

const noProof = (reason: string): ParametersAnswer => ({ kind: 'no_proof', reason });

const NONE: Record<ToldParameters['kind'], ToldParameters> = {
  convenio: { kind: 'convenio', isActive: false },
  aliquota: { kind: 'aliquota', rates: [] },
  regimes_especiais: { kind: 'regimes_especiais', regimes: [] },
  retencoes: { kind: 'retencoes', article6: false, municipal: 0 },
};

const READ: Record<ToldParameters['kind'], (member: unknown) => ToldParameters | undefined> = {
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
  aliquota: (member) => {
    const rates = lists(member)?.map(({ item }) => rateOf(item));
    return rates?.every(isKnown) === true ? { kind: 'aliquota', rates } : undefined;
  },
  // Regime by regime below each service; the real body is not confirmed (domain.md section 19).
  regimes_especiais: (member) => {
    const services = objectOf(member);
    if (services === undefined) return undefined;
    const regimes = Object.values(services).flatMap((one) => (lists(one) ?? [undefined]).map(regimeOf));
    return regimes.every(isKnown) ? { kind: 'regimes_especiais', regimes } : undefined;
  },
  retencoes: (member) => {
    const object = objectOf(member);
    if (object === undefined) return undefined;
    const municipal = Array.isArray(object.retencoesmunicipais) ? object.retencoesmunicipais.length : 0;
    return { kind: 'retencoes', article6: objectOf(object.artigosexto)?.habilitado === true, municipal };
  },
};

const isKnown = <T>(value: T | undefined): value is T => value !== undefined;

/** 1 and 0; -1 is declared in the Swagger and says nothing. */
const flag = <Name extends string>(name: Name, value: unknown): { [K in Name]?: boolean } =>
  (value === 1 || value === 0 ? { [name]: value === 1 } : {}) as { [K in Name]?: boolean };

const rateOf = (item: JsonBody | undefined) => {
  const days = inForce(item?.dtini, item?.dtfim);
  const percent = item?.aliq;
  if (item === undefined || days === undefined || typeof percent !== 'number' || !Number.isFinite(percent)) {
    return undefined;
  }
  return { percent: percent.toFixed(2), ...days, ...incidence(item.incidencia) };
};

const incidence = (value: unknown): { incidence?: boolean } =>
  typeof value === 'string' && /^(?:sim|n[aã]o)$/i.test(value) ? { incidence: /^sim$/i.test(value) } : {};

const regimeOf = (entry: { name: string; item: JsonBody | undefined } | undefined) => {
  const days = inForce(entry?.item?.datainicio, entry?.item?.datafim);
  const situation = entry?.item?.situacao;
  if (entry === undefined || days === undefined || typeof situation !== 'number') return undefined;
  return { regime: entry.name.slice(0, 40), situation, ...days };
};

const DAY = /^\d{4}-\d{2}-\d{2}/;

/** Stamps without offset: their day is the municipality's. */
const inForce = (first: unknown, last: unknown): { from: FiscalDate; until?: FiscalDate } | undefined => {
  const from = typeof first === 'string' ? DAY.exec(first)?.[0] : undefined;
  const until = typeof last === 'string' ? DAY.exec(last)?.[0] : undefined;
  if (from === undefined) return undefined;
  return { from, ...(until === undefined ? {} : { until }) };
};

/** The items of an object of lists, each with the name of its list. */
const lists = (value: unknown): { name: string; item: JsonBody | undefined }[] | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).flatMap(([name, items]) =>
    (Array.isArray(items) ? items : [undefined]).map((item) => ({ name, item: objectOf(item) })),
  );
};
