import { haveSameRoot } from '../../domain/common/cnpj.js';
import { brasiliaStamp } from '../../domain/common/time.js';
import type { Environment, World } from '../environment.js';
import { kindOf } from '../event/kinds.js';
import { type Refusal, refusal } from '../refusal.js';
import type { Note, Numbered } from '../state/ledger.js';
import { type Answer, APPLICATION_VERSION, type Json, type JsonObject, webServerPage } from './answer.js';
import { isActor } from './lookup.js';
import { isEventHidden, isNoteHidden } from './operation.js';

/** Documents of one answer. */
const BATCH = 50;

/**
 * Answers one call of the distribution of the ADN: `DFe/{NSU}` or `NFSe/{key}/Eventos`; `path` has the parts after `/contribuintes`, and `query` what
 * follows the question mark (docs/national-system.md#distribution). An NSU counts all documents of the environment, so a company's numbers have gaps.
 */
export const answerDistribution = async (
  world: World,
  environment: Environment,
  caller: string,
  { path, query }: { path: readonly string[]; query: string },
): Promise<Answer> => {
  const [resource, id = '', events, ...more] = path;
  if (resource === 'DFe' && events === undefined) return await queue(world, environment, caller, id, query);
  if (resource === 'NFSe' && events === 'Eventos' && more.length === 0) {
    const note = environment.ledger.noteByKey(id);
    if (note === undefined || !isActor(caller, note)) return nothingFound(world, environment);
    const found = [...environment.ledger.registeredAfter(0, (one) => one === note)].filter(
      (one) => !isHidden(world, one),
    );
    return found.length === 0 ? nothingFound(world, environment) : await documents(world, environment, found);
  }
  return webServerPage(404);
};

const queue = async (
  world: World,
  environment: Environment,
  caller: string,
  id: string,
  query: string,
): Promise<Answer> => {
  const options = new URLSearchParams(query);
  const cnpj = options.get('cnpjConsulta') ?? caller;
  if (!/^[0-9]{1,15}$/.test(id)) return refused(world, environment, refusal('RNG9999'));
  if (!haveSameRoot(caller, cnpj)) return refused(world, environment, refusal('E2243'));
  await environment.ledger.durable();
  const limit = options.get('lote') === 'false' ? 1 : BATCH;
  const found: Numbered[] = [];
  for (const one of environment.ledger.registeredAfter(Number(id), (note) => concerns(cnpj, note))) {
    // What a fault hides is given later, so the queue does not go past it.
    if (found.length === limit || isHidden(world, one)) break;
    found.push(one);
  }
  return found.length === 0 ? nothingFound(world, environment) : await documents(world, environment, found);
};

const isHidden = (world: World, { note, event }: Numbered): boolean =>
  event === undefined ? isNoteHidden(world, note) : isEventHidden(world, note, event.type);

/** A queue is one establishment's: that of the emitter or the customer, not of the whole company. */
const concerns = (cnpj: string, note: Note): boolean => note.cnpj === cnpj || note.customer === cnpj;

const documents = async (world: World, environment: Environment, found: readonly Numbered[]): Promise<Answer> =>
  answer(world, environment, 200, {
    StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
    LoteDFe: await Promise.all(found.map((one) => itemOf(environment, one))),
    Alertas: [],
    Erros: [],
  });

const itemOf = async ({ ledger }: Environment, { nsu, note, event }: Numbered): Promise<Json> => ({
  NSU: nsu,
  ChaveAcesso: note.accessKey,
  TipoDocumento: event === undefined ? 'NFSE' : 'EVENTO',
  TipoEvento: event === undefined ? null : (kindOf(event.type)?.adnName ?? null),
  ArquivoXml:
    (event === undefined
      ? await ledger.noteDocument(note.accessKey)
      : await ledger.eventDocument(note.accessKey, event.type)) ?? null,
  DataHoraGeracao: brasiliaStamp(event?.registeredAt ?? note.authorizedAt).slice(0, 19),
});

const nothingFound = (world: World, environment: Environment): Answer =>
  answer(world, environment, 404, {
    StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO',
    LoteDFe: [],
    Alertas: [],
    Erros: [errorOf(refusal('E2220'))],
  });

const refused = (world: World, environment: Environment, reason: Refusal): Answer =>
  answer(world, environment, 400, {
    StatusProcessamento: 'REJEICAO',
    LoteDFe: [],
    Alertas: [],
    Erros: [errorOf(reason)],
  });

const errorOf = ({ code, message }: Refusal): JsonObject => ({ Codigo: code, Descricao: message });

/** Names in PascalCase and the environment in words, as nothing else of the national system writes them. */
const answer = (world: World, { mode }: Environment, status: number, members: JsonObject): Answer => ({
  kind: 'json',
  status,
  body: {
    ...members,
    TipoAmbiente: mode === 'live' ? 'PRODUCAO' : 'HOMOLOGACAO',
    VersaoAplicativo: APPLICATION_VERSION,
    DataHoraProcessamento: brasiliaStamp(world.clock.now()).slice(0, 19),
  },
});
