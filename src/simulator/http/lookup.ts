import { emitterOfDps } from '../../domain/common/access-key.js';
import { haveSameRoot } from '../../domain/common/cnpj.js';
import { present } from '../../domain/common/present.js';
import type { Environment, World } from '../environment.js';
import { refusal } from '../refusal.js';
import type { Note } from '../state/ledger.js';
import { type Answer, absentDps, answersOf, webServerPage } from './answer.js';
import { isNoteHidden, type Operation } from './operation.js';

/** `GET` and `HEAD /dps/{id}`. HEAD answers every certificate and has no body. */
export const lookupOperation = (
  world: World,
  environment: Environment,
  caller: string,
  { dpsId, headOnly }: { dpsId: string; headOnly: boolean },
): Operation => {
  const { json, failedQuery } = answersOf(world, environment);
  const cnpj = emitterOfDps(dpsId);
  const found = environment.ledger.noteByDps(dpsId);
  const amountInCents = found?.amountInCents ?? world.hidden.amountOfDps(dpsId);
  const head = (answer: Answer): Answer =>
    headOnly && answer.kind === 'json' ? { kind: 'empty', status: answer.status } : answer;
  const absent = () => head(absentDps(world));
  return {
    on: 'lookup',
    note: present({ cnpj, customer: found?.customer, amountInCents, authorizedAt: found?.authorizedAt }),
    refuse: ([first = refusal('RNG9999')]) => head(failedQuery(400, first)),
    effect: { kind: 'reads', absent },
    perform: async () => {
      if (!/^DPS[0-9]{7}[12][0-9A-Z]{14}[0-9]{20}$/.test(dpsId)) return head(failedQuery(400, refusal('RNG9999')));
      const note = environment.ledger.noteByDps(dpsId);
      if (note === undefined || isNoteHidden(world, note)) return absent();
      await environment.ledger.durable();
      if (!headOnly && !isActor(caller, note)) return webServerPage(403);
      return head(json(200, { idDps: dpsId, chaveAcesso: note.accessKey }));
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
  const { json, failedQuery } = answersOf(world, environment);
  const note = environment.ledger.noteByKey(accessKey);
  const absent = () => failedQuery(404, refusal('E2401'));
  return {
    on: 'fetch',
    note: noteConcerned(accessKey, note),
    refuse: ([first = refusal('RNG9999')]) => failedQuery(400, first),
    effect: { kind: 'reads', absent },
    perform: async () => {
      if (!/^[0-9A-Z]{50}$/.test(accessKey)) return failedQuery(400, refusal('E2406'));
      if (note === undefined || isNoteHidden(world, note)) return absent();
      if (!isActor(caller, note)) return webServerPage(403);
      const document = await environment.ledger.noteDocument(accessKey);
      if (document === undefined) return absent();
      return json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: document });
    },
  };
};

/** The note that a call by access key is about. The emitter is read from the key, because the note may not exist. */
export const noteConcerned = (accessKey: string, note: Note | undefined): Operation['note'] =>
  present({
    cnpj: accessKey.slice(9, 23),
    customer: note?.customer,
    amountInCents: note?.amountInCents,
    authorizedAt: note?.authorizedAt,
  });

/** True for the company of the emitter or of the customer, which are the actors of a note. */
export const isActor = (caller: string, note: Note): boolean =>
  haveSameRoot(caller, note.cnpj) || (note.customer?.length === 14 && haveSameRoot(caller, note.customer));
