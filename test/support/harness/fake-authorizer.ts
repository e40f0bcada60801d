import { createHash } from 'node:crypto';
import type { CancelingEvent } from '../../../src/domain/common/access-key.js';
import { present } from '../../../src/domain/common/present.js';
import type { Instant } from '../../../src/domain/common/time.js';
import type { AuthorizedNote, Authorizer, LookupResult, RegisteredEvent } from '../../../src/ports/authorizer.js';

/**
 * What the authorizer does with one send. `lost_answer`: registered, but the answer never came. `lost_request`: it never
 * arrived. `late`: on its way, it arrives before the next send or when the test says so. `die…`: our process ends there.
 */
export type Turn =
  | 'answer'
  | 'lost_answer'
  | 'lost_request'
  | 'late'
  | 'not_sent'
  | 'certificate_refused'
  | 'die_before_arrival'
  | 'die_after_arrival'
  | { rejected: readonly string[] }
  | { unknown: readonly string[]; namedEvent?: CancelingEvent };

/** Stands for the end of the process during a send: nothing after the send runs. */
export class ProcessDied extends Error {}

export type FakeAuthorizer = Authorizer & {
  /** What to do with the next sends, in order; afterwards every send is answered. */
  script: Turn[];
  /** Look-ups say nothing while this is set. */
  mute: boolean;
  calls: string[];
  /** Bytes of every send that left this process. */
  sends: Buffer[];
  /** The ledger: one entry per registered note, of all senders. */
  notes: AuthorizedNote[];
  events: RegisteredEvent[];
  arriveLate(): void;
};

const NOTE_AT: Instant = '2026-11-21T12:00:01.000Z';

export const digestOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('base64');

/** Of bytes that the fake signer has signed. */
export const markOf = (bytes: Buffer): string => digestOf(Buffer.concat([Buffer.from('mark'), bytes]));

export const fakeAuthorizer = (): FakeAuthorizer => {
  let late: (() => void)[] = [];

  const arriveLate = (): void => {
    const arriving = late;
    late = [];
    for (const arrive of arriving) arrive();
  };

  const send = async <Success>(
    name: string,
    bytes: Buffer,
    register: () => Success | { exists: string },
  ): Promise<
    | { kind: 'done'; result: Success }
    | { kind: 'not_sent'; reason: string; codes: readonly string[]; certificateRefused?: true }
    | { kind: 'rejected'; codes: readonly string[] }
    | { kind: 'unknown'; reason: string; codes: readonly string[]; namedEvent?: CancelingEvent }
  > => {
    fake.calls.push(name);
    const turn = fake.script.shift() ?? 'answer';
    if (turn === 'not_sent') return { kind: 'not_sent', reason: 'ECONNREFUSED', codes: [] };
    if (turn === 'certificate_refused')
      return { kind: 'not_sent', reason: 'certificate', codes: ['E1203'], certificateRefused: true };
    fake.sends.push(bytes);
    arriveLate();
    if (typeof turn === 'object')
      return 'rejected' in turn
        ? { kind: 'rejected', codes: turn.rejected }
        : { kind: 'unknown', reason: 'transient', codes: turn.unknown, ...present({ namedEvent: turn.namedEvent }) };
    switch (turn) {
      case 'lost_request':
        return { kind: 'unknown', reason: 'timeout', codes: [] };
      case 'die_before_arrival':
        throw new ProcessDied();
      case 'late':
        late.push(() => register());
        return { kind: 'unknown', reason: 'timeout', codes: [] };
      default: {
        const result = register();
        if (turn === 'die_after_arrival') throw new ProcessDied();
        if (turn === 'lost_answer') return { kind: 'unknown', reason: 'timeout', codes: [] };
        return isExisting(result)
          ? { kind: 'unknown', reason: 'exists', codes: [result.exists] }
          : { kind: 'done', result };
      }
    }
  };

  const lookUp = async <Found>(name: string, find: () => Found | undefined): Promise<LookupResult<Found>> => {
    fake.calls.push(name);
    if (fake.mute) return { kind: 'inconclusive', reason: 'html' };
    const found = find();
    return found === undefined ? { kind: 'absent' } : { kind: 'found', found };
  };

  const fake: FakeAuthorizer = {
    script: [],
    mute: false,
    calls: [],
    sends: [],
    notes: [],
    events: [],
    arriveLate,
    sendDps: (_caller, bytes) =>
      send('sendDps', bytes, () => {
        const note = noteFor(bytes, fake.notes.length + 1);
        if (fake.notes.some(({ dpsId }) => dpsId === note.dpsId)) return { exists: 'E0014' };
        fake.notes.push(note);
        return note;
      }),
    findByDps: (_caller, dpsId) => lookUp('findByDps', () => fake.notes.find((note) => note.dpsId === dpsId)),
    findByAccessKey: (_caller, key) => lookUp('findByAccessKey', () => fake.notes.find((n) => n.accessKey === key)),
    sendCancellation: (_caller, _accessKey, bytes) =>
      send('sendCancellation', bytes, () => {
        const event = eventFor(bytes);
        if (fake.events.some(({ requestId }) => requestId === event.requestId)) return { exists: 'E0840' };
        fake.events.push(event);
        return event;
      }),
    findCancellation: () => lookUp('findCancellation', () => fake.events[0]),
  };
  return fake;
};

const isExisting = (result: unknown): result is { exists: string } =>
  typeof result === 'object' && result !== null && 'exists' in result;

const idIn = (bytes: Buffer): string => / Id="([^"]+)"/.exec(bytes.toString('utf8'))?.[1] ?? '';

/** What a real signature covers, or all of what the fake signer has signed. */
const digestIn = (bytes: Buffer): string =>
  /<DigestValue>([^<]+)</.exec(bytes.toString('utf8'))?.[1] ?? digestOf(bytes);

export const noteFor = (signedDps: Buffer, number: number): AuthorizedNote => ({
  // The ninth digit says that a CNPJ follows, as the schema of events demands.
  accessKey: `333333332${String(number).padStart(41, '3')}`,
  nfseNumber: String(number),
  authorizedAt: NOTE_AT,
  xml: Buffer.from(`<NFSe>${number}</NFSe>`),
  dpsId: idIn(signedDps),
  digest: digestIn(signedDps),
  signatureMark: markOf(signedDps),
  content: { amount: '1.00', description: 'outra nota', customerDocument: '' },
});

/** The event that the authorizer registers for these signed bytes. */
export const eventFor = (signed: Buffer): RegisteredEvent => ({
  xml: Buffer.from('<evento/>'),
  eventType: '101101',
  registeredAt: NOTE_AT,
  requestId: idIn(signed),
  digest: digestIn(signed),
  signatureMark: markOf(signed),
});
