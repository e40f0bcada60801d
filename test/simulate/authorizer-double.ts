import type { AccessKey } from '../../src/domain/common/access-key.js';
import { addSeconds, type Instant, isBefore } from '../../src/domain/common/time.js';
import type {
  AuthorizedNote,
  Authorizer,
  LookupResult,
  RegisteredEvent,
  SendResult,
} from '../../src/ports/authorizer.js';
import { eventFor, noteFor } from '../support/harness/fake-authorizer.js';
import type { Choices } from './choices.js';
import type { Process, Scheduler } from './scheduler.js';

/** What the authorizer holds: no crash of ours touches it. `visibleFrom`: look-ups do not show a fresh note at once. */
export type Ledger = {
  /** False: it makes a second note of a DPS id, which no rule of ours could repair. */
  isUnique: boolean;
  notes: (AuthorizedNote & { visibleFrom: Instant })[];
  events: (RegisteredEvent & { accessKey: AccessKey; visibleFrom: Instant })[];
  sends: number;
};

export const emptyLedger = (): Ledger => ({ isUnique: true, notes: [], events: [], sends: 0 });

/** What befalls one send, the peaceful fate first; how often, of a thousand. */
const FATES = [
  ['answered', 800],
  ['loses its answer', 50],
  ['is lost', 40],
  ['arrives late', 40],
  ['is refused', 20],
  ['is answered in a way that proves nothing', 20],
  ['is never begun', 20],
  ['meets an outage', 10],
] as const;

const LATEST_SECONDS = 700;
const HIDDEN_SECONDS = 400;

type World = { ledger: Ledger; scheduler: Scheduler; choices: Choices; isPeaceful(): boolean };

/** The authorizer as one process of ours reaches it. It keeps its own uniqueness of ids, as the real one does. */
export const authorizerFor = (process: Process, { ledger, scheduler, choices, isPeaceful }: World): Authorizer => {
  const { clock, history } = scheduler;

  const fateOf = (): (typeof FATES)[number][0] => {
    if (isPeaceful()) return 'answered';
    const drawn = choices.below(1_000);
    let reached = 0;
    for (const [fate, share] of FATES) {
      reached += share;
      if (drawn < reached) return fate;
    }
    return 'answered';
  };

  const hiddenFor = (): number => (!isPeaceful() && choices.chance(80) ? choices.below(HIDDEN_SECONDS) : 0);

  const send = async <Found>(
    what: string,
    deadlineAt: Instant,
    register: () => Found | undefined,
  ): Promise<SendResult<Found>> => {
    await process.turn(`sends ${what}`);
    if (isBefore(deadlineAt, clock.now())) return NOT_SENT;
    const fate = fateOf();
    if (fate !== 'answered') history.push(`  which ${fate}`);
    if (fate === 'is never begun') return NOT_SENT;
    ledger.sends += 1;
    const result = answerTo(fate, register, (seconds) =>
      scheduler.at(addSeconds(clock.now(), seconds), () => {
        history.push(`  ${what} arrives late`);
        register();
      }),
    );
    await process.turn(`hears of ${what}`);
    return result;
  };

  const answerTo = <Found>(
    fate: (typeof FATES)[number][0],
    register: () => Found | undefined,
    later: (seconds: number) => void,
  ): SendResult<Found> => {
    switch (fate) {
      case 'is lost':
        return LOST;
      case 'meets an outage':
        return { kind: 'unknown', reason: 'http_503', codes: [], outage: true };
      case 'arrives late':
        later(1 + choices.below(LATEST_SECONDS));
        return LOST;
      case 'is refused':
        return { kind: 'rejected', codes: ['E0312'], httpStatus: 400 };
      case 'is answered in a way that proves nothing':
        if (choices.chance(500)) register();
        return { kind: 'unknown', reason: 'transient', codes: ['E1217'] };
      default: {
        const result = register();
        if (fate === 'loses its answer') return LOST;
        return result === undefined
          ? { kind: 'unknown', reason: 'exists', codes: ['E0014'] }
          : { kind: 'done', result };
      }
    }
  };

  const lookUp = async <Found extends { visibleFrom: Instant }>(
    what: string,
    find: () => Found | undefined,
  ): Promise<LookupResult<Found>> => {
    await process.turn(`looks up ${what}`);
    const found = find();
    const isMute = !isPeaceful() && choices.chance(100);
    await process.turn(`hears about ${what}`);
    if (isMute) return { kind: 'inconclusive', reason: 'http_502' };
    return found === undefined || isBefore(clock.now(), found.visibleFrom)
      ? { kind: 'absent' }
      : { kind: 'found', found };
  };

  return {
    sendDps: (_caller, bytes, deadlineAt) => {
      const { dpsId } = noteFor(bytes, 0);
      return send(dpsId, deadlineAt, () => {
        if (ledger.isUnique && ledger.notes.some((note) => note.dpsId === dpsId)) return undefined;
        const note = { ...noteFor(bytes, ledger.notes.length + 1), visibleFrom: addSeconds(clock.now(), hiddenFor()) };
        ledger.notes.push(note);
        return note;
      });
    },
    findByDps: (_caller, dpsId) => lookUp(dpsId, () => ledger.notes.find((note) => note.dpsId === dpsId)),
    findByAccessKey: (_caller, key) => lookUp(key, () => ledger.notes.find(({ accessKey }) => accessKey === key)),
    sendCancellation: (_caller, accessKey, bytes, deadlineAt) =>
      send(`the cancellation of ${accessKey.slice(-4)}`, deadlineAt, () => {
        if (ledger.events.some((event) => event.accessKey === accessKey)) return undefined;
        const event = { ...eventFor(bytes), accessKey, visibleFrom: addSeconds(clock.now(), hiddenFor()) };
        ledger.events.push(event);
        return event;
      }),
    findCancellation: (_caller, accessKey) =>
      lookUp(`the cancellation of ${accessKey.slice(-4)}`, () =>
        ledger.events.find((event) => event.accessKey === accessKey),
      ),
  };
};

const LOST: SendResult<never> = { kind: 'unknown', reason: 'ECONNRESET', codes: [] };
const NOT_SENT: SendResult<never> = { kind: 'not_sent', reason: 'ECONNREFUSED', codes: [] };
