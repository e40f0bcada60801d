import { type Canonical, element, field } from '../../domain/common/canonical-xml.js';
import type { Instant } from '../../domain/common/time.js';
import { parseXml } from '../../xml/document.js';
import { gunzipBase64 } from '../../xml/packing.js';
import { textAt } from '../../xml/parse.js';
import { wholeSecond } from '../clock.js';
import type { Environment, World } from '../environment.js';
import { newAccessKey } from '../note/access-key.js';
import type { Ledger, Note } from '../state/ledger.js';
import { eventDocument, systemRequest } from './evento.js';
import { EVENT_KINDS, type EventType, storedType } from './kinds.js';

/** Puts e105102 on the note `old`, which the note `by` substitutes (docs/national-system.md#substitution). */
export const linkSubstitution = (
  world: World,
  environment: Environment,
  old: Note,
  by: { accessKey: string; reason: string; text: string | undefined; at: Instant },
): void => {
  const details = element(
    'e105102',
    field('xDesc', EVENT_KINDS['105102'].name),
    field('cMotivo', by.reason),
    field('xMotivo', by.text),
    field('chSubstituta', by.accessKey),
  );
  add(world, environment, { note: old, type: '105102', author: old.cnpj, at: by.at, details });
};

/**
 * Puts an event of a customer, a municipality or the web portal on a note. Such events cause E0840 for a cancellation and E0046 to E0076 for
 * a substitution. `about` is the event type that a block or release concerns, `replacedBy` the note that a substitution names; without it the key of
 * an unknown note.
 */
export const linkForeignEvent = (
  world: World,
  environment: Environment,
  note: Note,
  event: { type: EventType; about: string | undefined; replacedBy: string | undefined; author: string },
): void => {
  const { type, about, author } = event;
  const at = wholeSecond(world.clock.now());
  const number = environment.ledger.nextNumber(note.cnpj);
  const { municipality, cnpj: emitter } = note;
  const replacedBy = event.replacedBy ?? newAccessKey({ municipality, emitter, number, at });
  add(world, environment, { note, type, author, at, details: detailsOf(note, type, { about, replacedBy }), about });
};

/**
 * CNPJ or CPF of the party whose event this is, as the note names it (E0813). The emitter for the events of others, and for a party that the note
 * does not name.
 */
export const authorOf = async (ledger: Ledger, note: Note, type: EventType): Promise<string> => {
  switch (type) {
    case '203202':
    case '203206':
      return note.customer ?? note.cnpj;
    case '204203':
    case '204207':
      return intermediaryIn(await ledger.noteDocument(note.accessKey)) ?? note.cnpj;
    default:
      return note.cnpj;
  }
};

const MOST_BYTES = 16 * 1024 * 1024;

const intermediaryIn = (document: string | undefined): string | undefined => {
  const unpacked = gunzipBase64(document ?? '', MOST_BYTES);
  const parsed = unpacked.ok ? parseXml(unpacked.bytes) : unpacked;
  if (!parsed.ok) return undefined;
  const { root } = parsed;
  return textAt(root, `${INTERMEDIARY}/CNPJ`) ?? textAt(root, `${INTERMEDIARY}/CPF`);
};

const INTERMEDIARY = 'NFSe/infNFSe/DPS/infDPS/interm';

const add = (
  world: World,
  environment: Environment,
  event: { note: Note; type: EventType; author: string; at: Instant; details: Canonical; about?: string | undefined },
): void => {
  const { accessKey } = event.note;
  const common = { accessKey, type: event.type, registeredAt: event.at };
  const request = systemRequest(environment, { ...common, author: event.author, details: event.details });
  const stored = { ...common, type: storedType(event.type, event.about), sequence: 1 };
  environment.ledger.addEvent(stored, eventDocument(world, environment, { ...common, request }));
};

const REASON = 'Evento vinculado pelo controle do simulador';

const AGENT = '12345678909';

type Named = { about: string | undefined; replacedBy: string };

const detailsOf = ({ accessKey }: Note, type: EventType, { about, replacedBy }: Named): Canonical => {
  const of = (...fields: readonly (Canonical | undefined)[]) =>
    element(`e${type}`, field('xDesc', EVENT_KINDS[type].name), ...fields);
  const agent = field('CPFAgTrib', AGENT);
  const text = field('xMotivo', REASON);
  switch (type) {
    case '101101':
    case '101103':
    case '202205':
    case '203206':
    case '204207':
      return of(field('cMotivo', '1'), text);
    case '105102':
      return of(field('cMotivo', '99'), text, field('chSubstituta', replacedBy));
    case '105104':
    case '105105':
      return of(agent, field('cMotivo', '1'), text);
    case '205208':
      return of(agent, field('idEvManifRej', `${accessKey}203206`), text);
    case '305101':
      return of(agent, field('nProcAdm', '1'), field('xProcAdm', REASON));
    case '305102':
      return of(agent, field('codEvento', `e${about}`), text);
    case '305103':
      return of(agent, field('idBloqOfic', `${accessKey}305102`));
    default:
      return of();
  }
};
