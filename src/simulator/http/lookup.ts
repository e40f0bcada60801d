import type { Environment, World } from '../environment.js';
import { isSameCompany } from '../holder.js';
import { refusal } from '../refusal.js';
import type { Note } from '../state/ledger.js';
import { type Answer, answerHead, failedQuery, stamp, webServerPage } from './answer.js';
import { hiddenNote, type Operation } from './operation.js';

/** `GET` and `HEAD /dps/{id}`. HEAD answers every certificate and has no body. */
export const lookupOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { dpsId, headOnly }: { dpsId: string; headOnly: boolean },
): Operation => {
  const cnpj = dpsId.slice(11, 25);
  const amount = environment.ledger.noteByDps(dpsId)?.amountInCents ?? world.hidden.amountOfDps(dpsId);
  const head = (answer: Answer): Answer =>
    headOnly && answer.kind === 'json' ? { kind: 'empty', status: answer.status } : answer;
  const absent = () => head(absentDps(world));
  return {
    on: 'lookup',
    note: { cnpj, ...(amount !== undefined && { amountInCents: amount }) },
    refuse: ([first = refusal('RNG9999')]) => head(failedQuery(answerHead(world, environment), 400, first)),
    effect: { kind: 'reads', absent },
    perform: async () => {
      if (!/^DPS[0-9]{7}[12][0-9A-Z]{14}[0-9]{20}$/.test(dpsId)) {
        return head(failedQuery(answerHead(world, environment), 400, refusal('RNG9999')));
      }
      const note = environment.ledger.noteByDps(dpsId);
      if (note === undefined || world.hidden.has(hiddenNote(dpsId))) return absent();
      await environment.ledger.durable();
      if (!headOnly && !isActor(caller, note)) return webServerPage(403);
      const body = { ...answerHead(world, environment), idDps: dpsId, chaveAcesso: note.accessKey };
      return head({ kind: 'json', status: 200, body });
    },
  };
};

/** `GET /nfse/{chaveAcesso}`. */
export const fetchOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { accessKey }: { accessKey: string },
): Operation => {
  const note = environment.ledger.noteByKey(accessKey);
  const fail = (status: number, code: 'E2401' | 'E2406') =>
    failedQuery(answerHead(world, environment), status, refusal(code));
  return {
    on: 'fetch',
    note: noteConcerned(accessKey, note),
    refuse: ([first = refusal('RNG9999')]) => failedQuery(answerHead(world, environment), 400, first),
    effect: { kind: 'reads', absent: () => fail(404, 'E2401') },
    perform: async () => {
      if (!/^[0-9A-Z]{50}$/.test(accessKey)) return fail(400, 'E2406');
      if (note === undefined || world.hidden.has(hiddenNote(note.dpsId))) return fail(404, 'E2401');
      if (!isActor(caller, note)) return webServerPage(403);
      const document = await environment.ledger.noteDocument(accessKey);
      if (document === undefined) return fail(404, 'E2401');
      const body = { ...answerHead(world, environment), chaveAcesso: accessKey, nfseXmlGZipB64: document };
      return { kind: 'json', status: 200, body };
    },
  };
};

/** The note that a call by access key is about. The emitter is read from the key, because the note may not exist. */
export const noteConcerned = (accessKey: string, note: Note | undefined): Operation['note'] => ({
  cnpj: accessKey.slice(9, 23),
  ...(note !== undefined && { amountInCents: note.amountInCents }),
});

/** True for the company of the emitter or of the customer, which are the actors of a note. */
export const isActor = (caller: string, note: Note): boolean =>
  isSameCompany(caller, note.cnpj) || (note.customer?.length === 14 && isSameCompany(caller, note.customer));

/** The real 404 has environment 0 and no application version (docs/national-system.md#dps-not-found). */
const absentDps = (world: World): Answer =>
  failedQuery({ tipoAmbiente: 0, dataHoraProcessamento: stamp(world.clock.now()) }, 404, refusal('E2404'));
