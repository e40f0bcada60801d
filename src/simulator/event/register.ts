import { CANCELLATION_EVENT, cancellationRequestId } from '../../domain/shared/access-key.js';
import { brasiliaStamp, epochMs, type Instant } from '../../domain/shared/time.js';
import { type Canonical, elementWith, field } from '../../xml/element.js';
import { attributeAt, nodeAt, textAt } from '../../xml/parse.js';
import { signDocument } from '../../xml/sign.js';
import { gzipBase64 } from '../../xml/transport.js';
import { wholeSecond } from '../clock.js';
import { type Environment, otherMode, type World } from '../environment.js';
import { holderOf, isSameCompany } from '../holder.js';
import type { Received } from '../intake.js';
import type { Code } from '../messages.js';
import { type Refusal, refusal } from '../refusal.js';
import type { Note } from '../state/ledger.js';

export type Registration = { ok: true; document: string } | { ok: false; refusals: readonly Refusal[] };

/**
 * Registers a cancellation (e101101) on a note, in one synchronous step like `authorize`. `pathKey` is the access key of
 * the address that the request was sent to (domain.md section 13).
 */
export const registerEvent = (
  world: World,
  environment: Environment,
  received: Received,
  pathKey: string,
): Registration => {
  const request = readRequest(received);
  if (request === undefined) return { ok: false, refusals: [refusal('E1242')] };
  const now = world.clock.now();
  const note = environment.ledger.noteByKey(request.accessKey);
  const codes = note === undefined ? unknownNote(world, environment, request) : [];
  const broken = [
    ...formFaults(environment, received, request, pathKey),
    ...codes,
    ...(note === undefined ? [] : noteFaults(environment, note, request, now)),
  ];
  if (broken.length > 0) return { ok: false, refusals: broken.map((code) => refusal(code)) };

  const registeredAt = wholeSecond(now);
  const id = `EVT${request.accessKey}${CANCELLATION_EVENT}001`;
  const { bytes } = signDocument(evento(id, environment.verAplic, registeredAt, received.text), {
    ...world.signer,
    signedElementName: 'infEvento',
    id,
    algorithm: 'exc-c14n-with-comments',
    encoding: 'utf-8',
  });
  const document = gzipBase64(bytes);
  const event = { accessKey: request.accessKey, type: CANCELLATION_EVENT, sequence: 1, registeredAt };
  environment.ledger.addEvent(event, document);
  return { ok: true, document };
};

type Request = { id: string; accessKey: string; author: string; tpAmb: string };

/** Undefined for an event other than the cancellation. */
const readRequest = ({ root }: Received): Request | undefined => {
  const infPedReg = nodeAt(root, 'pedRegEvento/infPedReg');
  if (nodeAt(infPedReg, `e${CANCELLATION_EVENT}`) === undefined) return undefined;
  return {
    id: attributeAt(root, 'pedRegEvento/infPedReg', 'Id') ?? '',
    accessKey: textAt(infPedReg, 'chNFSe') ?? '',
    author: textAt(infPedReg, 'CNPJAutor') ?? textAt(infPedReg, 'CPFAutor') ?? '',
    tpAmb: textAt(infPedReg, 'tpAmb') ?? '',
  };
};

const formFaults = (environment: Environment, received: Received, request: Request, pathKey: string): Code[] => {
  const signer = holderOf(received.signerDer).cnpj;
  const codes: Code[] = [];
  if (request.tpAmb !== environment.tpAmb) codes.push('E1845');
  if (request.id !== cancellationRequestId(request.accessKey) || pathKey !== request.accessKey) codes.push('E1827');
  if (signer === undefined || !isSameCompany(signer, request.author)) codes.push('E0812');
  return codes;
};

const unknownNote = (world: World, { mode }: Environment, { accessKey }: Request): Code[] =>
  world.environments[otherMode(mode)].ledger.noteByKey(accessKey) === undefined ? ['E1831'] : ['E0831'];

const noteFaults = ({ ledger, registry }: Environment, note: Note, request: Request, now: Instant): Code[] => {
  const { cancelDays, customerRequired } = registry.municipality(note.municipality);
  if (ledger.event(note.accessKey, CANCELLATION_EVENT) !== undefined) return ['E0840'];
  const codes: Code[] = [];
  if (!isSameCompany(request.author, note.cnpj)) codes.push('E0813');
  if (cancelDays !== undefined && epochMs(now) > epochMs(note.authorizedAt) + cancelDays * 86_400_000) {
    codes.push('E0822');
  }
  if (customerRequired === true && note.customer === undefined) codes.push('E0824');
  return codes;
};

const evento = (id: string, verAplic: string, registeredAt: Instant, requestText: string): string =>
  elementWith(
    'evento',
    { xmlns: 'http://www.sped.fazenda.gov.br/nfse', versao: '1.01' },
    elementWith(
      'infEvento',
      { Id: id },
      field('verAplic', verAplic),
      field('ambGer', '2'),
      field('nSeqEvento', '1'),
      field('dhProc', brasiliaStamp(registeredAt)),
      field('nDFSe', '0'),
      // The signed request is copied as it came.
      requestText as Canonical,
    ),
  );
