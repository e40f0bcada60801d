import { brasiliaStamp } from '../../domain/common/time.js';
import type { Environment, World } from '../environment.js';
import { typeOf } from '../event/kinds.js';
import { registerEvent } from '../event/register.js';
import { EVENT_KIND, takeIn } from '../intake.js';
import { refusal } from '../refusal.js';
import type { Ledger, RegisteredEvent } from '../state/ledger.js';
import { type Answer, answersOf, type Json, webServerPage } from './answer.js';
import { textMember } from './issue.js';
import { isActor, noteConcerned } from './lookup.js';
import { hiddenEvent, isEventHidden, type Operation } from './operation.js';

/** `POST /nfse/{chaveAcesso}/eventos` (docs/national-system.md#cancellation). */
export const eventOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { accessKey, body }: { accessKey: string; body: unknown },
): Operation => {
  const { ledger } = environment;
  const note = ledger.noteByKey(accessKey);
  const { json, rejectedEvent: refuse } = answersOf(world, environment);
  return {
    on: 'event',
    note: noteConcerned(accessKey, note),
    refuse,
    effect: { kind: 'writes', hides: hiddenEvent(accessKey) },
    perform: async () => {
      const base64 = textMember(body, 'pedidoRegistroEventoXmlGZipB64');
      if (base64 === undefined) return refuse([refusal('RNG9999')]);
      const intake = takeIn(base64, EVENT_KIND, world);
      if (!intake.ok) return refuse([intake.refusal]);
      if (note !== undefined && !isActor(caller, note)) return webServerPage(403);
      const result = registerEvent(world, environment, intake.received, accessKey);
      await ledger.durable();
      if (!result.ok) return refuse(result.refusals);
      return json(201, { eventoXmlGZipB64: result.document });
    },
  };
};

/** `GET /nfse/{chaveAcesso}/eventos/{tipoEvento}/{numSeqEvento}`; its document is base64 twice (docs/national-system.md#event-look-up). */
export const eventLookupOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { accessKey, type, sequence }: { accessKey: string; type: string; sequence: string },
): Operation =>
  readOperation(world, environment, caller, {
    on: 'event_lookup',
    accessKey,
    absence: 'Evento não encontrado para a chave de acesso informada.',
    // A stored block names the event that it concerns, so several stored types have the type that was asked for.
    chosen: (events) => (sequence === '1' ? events.filter((event) => typeOf(event.type) === type).slice(0, 1) : []),
  });

/** `GET /nfse/{chaveAcesso}/eventos`: all events of a note, the oldest first, in the form of the look-up (docs/national-system.md#event-paths). */
export const eventListOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { accessKey }: { accessKey: string },
): Operation =>
  readOperation(world, environment, caller, {
    on: 'event_list',
    accessKey,
    absence: 'Nenhum evento encontrado para a chave de acesso informada.',
    chosen: (events) => events,
  });

type EventRead = {
  on: 'event_lookup' | 'event_list';
  accessKey: string;
  /** The message of E2401. */
  absence: string;
  /** Chooses what is shown of the events of the note, the oldest first. */
  chosen(events: readonly RegisteredEvent[]): readonly RegisteredEvent[];
};

const readOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { on, accessKey, absence, chosen }: EventRead,
): Operation => {
  const { ledger } = environment;
  const { json, failedQuery } = answersOf(world, environment);
  const note = ledger.noteByKey(accessKey);
  const absent = (): Answer => failedQuery(404, { code: 'E2401', message: absence });
  return {
    on,
    note: noteConcerned(accessKey, note),
    refuse: ([first = refusal('RNG9999')]) => failedQuery(400, first),
    effect: { kind: 'reads', absent },
    perform: async () => {
      if (note === undefined) return absent();
      const events = chosen(ledger.events(accessKey)).filter(({ type }) => !isEventHidden(world, note, type));
      if (events.length === 0) return absent();
      if (!isActor(caller, note)) return webServerPage(403);
      return json(200, { eventos: await Promise.all(events.map((event) => itemOf(ledger, event))) });
    },
  };
};

/** One item of `eventos`; its document is base64 twice. */
const itemOf = async (ledger: Ledger, { accessKey, type, sequence, registeredAt }: RegisteredEvent): Promise<Json> => ({
  chaveAcesso: accessKey,
  tipoEvento: Number(typeOf(type)),
  numeroPedidoRegistroEvento: sequence,
  dataHoraRecebimento: `${brasiliaStamp(registeredAt).slice(0, 19)}.00`,
  arquivoXml: Buffer.from((await ledger.eventDocument(accessKey, type)) ?? '', 'latin1').toString('base64'),
});
