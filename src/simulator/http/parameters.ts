import { isDay } from '../../domain/common/time.js';
import type { Environment, World } from '../environment.js';
import { type Benefit, isNationalCodeEnough, type Municipality } from '../state/entries.js';
import { type Answer, type Json, type JsonObject, webServerPage } from './answer.js';

/** Answers one call of the parameters API from the environment's registry; `path` has the parts after `/parametrizacao`. */
export const answerParameters = (world: World, environment: Environment, path: readonly string[]): Answer => {
  const [ibge = '', second = '', third = '', fourth, ...more] = path;
  if (more.length > 0 || path.length < 2) return webServerPage(404);
  if (!/^[0-9]{1,9}$/.test(ibge)) return unreadable('codigoMunicipio', ibge);
  const asked = { ibge, entry: environment.registry.municipality(ibge), name: nameOf(world, ibge) };
  if (path.length === 2) return second === 'convenio' ? convenio(asked) : webServerPage(404);
  if (path.length === 3) {
    if (third === 'historicoaliquotas') return aliquotas(asked, second);
    if (third !== 'retencoes') return webServerPage(404);
    return isDay(second) ? retencoes(asked) : unreadable('competencia', second);
  }
  const answer = ANSWERS[fourth ?? ''];
  if (answer === undefined) return webServerPage(404);
  return isDay(third) ? answer(asked, second) : unreadable('competencia', third);
};

type Asked = { ibge: string; entry: Municipality; name: string | undefined };

/** `Rio de Janeiro/RJ`. */
const nameOf = ({ tables }: World, ibge: string): string | undefined => {
  const found = tables.municipality(ibge);
  return found === undefined ? undefined : `${found.name}/${found.uf}`;
};

const json = (status: number, body: JsonObject): Answer => ({ kind: 'json', status, body });

/** The answer of ASP.NET to a parameter that it cannot read. */
const unreadable = (name: string, value: string): Answer => ({
  kind: 'problem',
  status: 400,
  body: {
    type: 'https://tools.ietf.org/html/rfc7231#section-6.5.1',
    title: 'One or more validation errors occurred.',
    status: 400,
    errors: { [name]: [`The value '${value.slice(0, 40)}' is not valid.`] },
  },
});

const isActive = ({ entry, name }: Asked): boolean => name !== undefined && entry.adherent !== false;

const convenio = (asked: Asked): Answer => {
  const { entry, ibge, name } = asked;
  if (!isActive(asked)) {
    const mensagem = `O convênio do município <${name ?? ibge}> ainda não está ativo`;
    return json(404, { mensagem, parametrosConvenio: null });
  }
  return json(200, {
    mensagem: 'Parâmetros do convênio recuperados com sucesso.',
    parametrosConvenio: {
      aderenteAmbienteNacional: 1,
      aderenteEmissorNacional: entry.nationalEmitter === false ? 0 : 1,
      situacaoEmissaoPadraoContribuintesRFB: entry.registrationRequired === true ? 0 : 1,
      aderenteMAN: 0,
      permiteAproveitametoDeCreditos: true,
    },
  });
};

const SERVICE = /^[0-9]{2}\.[0-9]{2}\.[0-9]{2}\.[0-9]{3}$/;

/** A service code is dotted; nine digits without dots are refused too (docs/national-system.md#parameters-api). */
const wrongCode = (member: string): Answer =>
  json(400, {
    [member]: null,
    mensagem: 'Chamada mal formada. O código do serviço deve ser composto por nove dígitos.',
  });

const FIRST_DAY = '2023-01-01T00:00:00';

const aliquotas = (asked: Asked, service: string): Answer => {
  if (!SERVICE.test(service)) return wrongCode('aliquotas');
  const { entry } = asked;
  if (!isActive(asked) || !isAdministered(entry, service)) {
    return json(404, { aliquotas: null, mensagem: 'Não há alíquota parametrizada para o serviço informado.' });
  }
  const code = service.replaceAll('.', '').slice(0, 6);
  const isIncident = entry.nonIncidentCodes?.includes(code) !== true;
  const rate = {
    Incidencia: isIncident ? 'SIM' : 'NAO',
    // Nullable in the Swagger; a service without incidence has no rate.
    Aliq: isIncident ? Number(entry.rate ?? '5.00') : null,
    DtIni: stampOf(entry.adherentSince),
    DtFim: null,
  };
  return json(200, { aliquotas: { [service]: [rate] }, mensagem: 'Alíquotas recuperadas com sucesso.' });
};

/** Judges as E0312 and E0314 do: by the national code, or by all nine digits when they end in a municipal code. */
const isAdministered = (entry: Municipality, service: string): boolean => {
  const digits = service.replaceAll('.', '');
  if (!digits.endsWith('000')) return entry.municipalCodes?.includes(digits) === true;
  return isNationalCodeEnough(entry, digits.slice(0, 6));
};

/** 404 without an entry in the registry, which is the only answer observed from the real API. */
const regimesEspeciais = (asked: Asked, service: string): Answer => {
  if (!SERVICE.test(service)) return wrongCode('regimesEspeciais');
  const { entry } = asked;
  if (!isActive(asked) || entry.specialRegimes === undefined) {
    return json(404, { mensagem: 'Não há regime especial parametrizado.', regimesEspeciais: null });
  }
  const admitted = { situacao: 1, dataInicio: stampOf(entry.adherentSince), dataFim: null, observacoes: null };
  const regimes: Json = Object.fromEntries(entry.specialRegimes.map((regime) => [regime, [admitted]]));
  return json(200, {
    mensagem: 'Regimes especiais recuperados com sucesso.',
    regimesEspeciais: { [service]: regimes },
  });
};

const retencoes = (asked: Asked): Answer =>
  isActive(asked)
    ? json(200, {
        mensagem: 'Retenções recuperadas com sucesso.',
        retencoes: { artigoSexto: { habilitado: true, historico: [] }, retencoesMunicipais: [] },
      })
    : json(404, { mensagem: 'Não há retenções parametrizadas.', retencoes: null });

const KINDS = { exemption: 1, rate: 2, value: 3, percent: 4 } as const satisfies Record<Benefit['kind'], number>;

const beneficio = (asked: Asked, number: string): Answer => {
  const found = asked.entry.benefits?.find((benefit) => benefit.number === number);
  if (!isActive(asked) || found === undefined) {
    return json(404, { mensagem: 'Benefício municipal não encontrado.', beneficio: null });
  }
  const dataInicioVigencia = stampOf(asked.entry.adherentSince);
  return json(200, {
    mensagem: 'Benefício municipal recuperado com sucesso.',
    beneficio: {
      codigoBeneficio: found.number,
      descricao: 'Benefício do simulador',
      dataInicioVigencia,
      dataFimVigencia: found.until === undefined ? null : stampOf(found.until),
      tipoBeneficio: KINDS[found.kind],
      reducaoPercentualBC: found.percent === undefined ? null : Number(found.percent),
      aliquotaDiferenciada: null,
      restritoAoMunicipio: found.localOnly === true,
      servicos: (found.serviceCodes ?? []).map((code) => ({ codigoServico: code, dataInicioVigencia })),
      contribuintes: (found.cnpjs ?? []).map((inscricao) => ({ tipoInscricao: 2, inscricao, dataInicioVigencia })),
    },
  });
};

const stampOf = (day: string | undefined): string => (day === undefined ? FIRST_DAY : `${day}T00:00:00`);

const ANSWERS: Readonly<Record<string, ((asked: Asked, second: string) => Answer) | undefined>> = {
  aliquota: aliquotas,
  regimes_especiais: regimesEspeciais,
  beneficio,
};
