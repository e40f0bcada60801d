import type { AcceptDeps, AcceptResult } from '../../src/app/accept/accept-deps.js';
import { acceptInvoice } from '../../src/app/accept/accept-invoice.js';
import { guardHashes } from '../../src/app/accept/guard-hashes.js';
import { LATE_APPEND_SECONDS } from '../../src/app/accept/reserve.js';
import { createEventStore } from '../../src/app/event-store/event-store.js';
import { bodyHashOf, sha256Hex } from '../../src/app/event-store/hashes.js';
import { isBefore } from '../../src/domain/common/time.js';
import type { Company } from '../../src/domain/company/company.js';
import type { GuardKey } from '../../src/ports/guard-keys.js';
import { DEMO_CNPJ, demoCompany } from '../support/fixture/demo.js';
import { T0 } from '../support/fixture/invoice.js';
import { acceptHarness, requester } from '../support/harness/accept.js';
import { fixedKeys, guardKeyOf, type MovableClock, movableClock } from '../support/harness/event-store.js';
import { breachOf, laterKey, requestOf, untrueRefusal } from './accepting-breaches.js';
import { type AppendFate, createShared, gated, loseGuards, type Ports, type Shared } from './accepting-ports.js';
import {
  type Acceptance,
  type Answer,
  acceptanceOf,
  type Budget,
  inWords,
  type Story,
  type Try,
  withoutChance,
} from './accepting-world.js';
import type { Run } from './replay.js';

/** After these seconds a keyed write without an answer has been stored, or never will be. Without a key no such bound is assumed. */
const LATE_NO_MORE_SECONDS = LATE_APPEND_SECONDS;

type World = {
  story: Story;
  shared: Shared;
  clock: MovableClock;
  company: { current: Company };
  tries: Try[];
  budget: { -readonly [Name in keyof Budget]: Budget[Name] };
  accepted: readonly Acceptance[];
  breach: string | undefined;
};

/** `acceptInvoice` itself, at two api processes or more: every call to an engine waits until the story lets it go. */
export const startRun = (story: Story): Run => {
  const world: World = {
    story,
    shared: createShared(story.isOneDatabase === true),
    clock: movableClock(T0),
    company: { current: demoCompany(DEMO_CNPJ) },
    tries: [],
    budget: { ...story.budget },
    accepted: [],
    breach: undefined,
  };
  return {
    moves: () => [...movesOf(world).keys()],
    make: async (name) => {
      const move = movesOf(world).get(name);
      if (move === undefined) throw new Error(`the story is not repeatable: ${name}`);
      await move();
      await settled(world);
      const events = await world.shared.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 });
      world.accepted = events.map(acceptanceOf);
      world.breach = judge(world);
    },
    breach: () => world.breach,
    key: () => keyOf(world),
  };
};

/** The engines answer at once, so after one turn of the event loop every process has reached its next call. */
const settled = async (world: World): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
  const busy = world.tries.find(({ end, answer, waiting }) => !end && !answer && waiting.length === 0);
  if (busy !== undefined) throw new Error(`${busy.client.name} is still busy`);
};

const movesOf = (world: World): Map<string, () => void | Promise<void>> => {
  const { budget, tries, shared, story } = world;
  const moves = new Map<string, () => void | Promise<void>>();
  const spend = (name: 'crashes' | 'lostAnswers' | 'uncertain' | 'away' | 'spoiled' | 'guardsLost'): void => {
    budget[name] -= 1;
  };
  for (const [index, client] of story.clients.entries()) {
    const nth = tries.filter((one) => one.client === client).length;
    if (mayAsk(world, index)) moves.set(`${client.name} asks, try ${nth}`, () => begin(world, { client, nth }));
  }
  for (const one of tries.filter(({ end }) => end === undefined)) {
    const who = `${one.client.name} ${one.nth}`;
    for (const { call, go } of one.waiting) {
      const goes = (fate: AppendFate) => {
        one.waiting = one.waiting.filter((waiting) => waiting.call !== call);
        go(fate);
      };
      moves.set(`${who}: ${call}`, () => goes('goes'));
      if (call !== 'append') continue;
      const uncertain = (fate: AppendFate) => () => {
        spend('uncertain');
        goes(fate);
      };
      if (budget.uncertain > 0) {
        moves.set(`${who}: append loses its answer`, uncertain('loses its answer'));
        moves.set(`${who}: append is late`, uncertain('is late'));
      }
      if (budget.away > 0) {
        moves.set(`${who}: append is refused by the engine`, () => {
          spend('away');
          goes('is refused by the engine');
        });
      }
    }
    if (one.answer !== undefined) {
      moves.set(`${who}: hears`, () => {
        one.end = 'heard';
      });
    }
    if (one.answer !== undefined && budget.lostAnswers > 0) {
      moves.set(`${who}: the answer is lost`, () => {
        spend('lostAnswers');
        one.end = 'lost';
      });
    }
    if (one.answer === undefined && budget.crashes > 0) {
      moves.set(`${who}: dies`, () => {
        spend('crashes');
        one.end = 'dead';
      });
    }
  }
  for (const [index, append] of shared.late.entries()) {
    moves.set(`late append ${index} arrives`, async () => {
      shared.late.splice(index, 1);
      await append();
    });
  }
  if (budget.spoiled > 0) {
    moves.set('the company can issue no more', () => {
      spend('spoiled');
      const { registration } = world.company.current;
      world.company.current = { ...world.company.current, registration: { ...registration, issuerApproved: false } };
    });
  }
  if (budget.guardsLost > 0) {
    moves.set('the guards are lost', () => {
      spend('guardsLost');
      return loseGuards(shared, world.clock.now(), story.isRebuilt !== false);
    });
  }
  const [seconds, ...rest] = budget.passes;
  const isIdle = tries.every(({ end }) => end !== undefined);
  if (seconds !== undefined && (isIdle || story.freezes === true)) {
    moves.set(`${seconds} s pass`, () => {
      budget.passes = rest;
      world.clock.pass(seconds);
      const isKeyed = story.clients.some(({ key }) => key !== undefined);
      if (seconds > LATE_NO_MORE_SECONDS && isKeyed) shared.late = [];
    });
  }
  return moves;
};

/** Again after no answer, a 503 or a key in use; never after an answer. */
const mayAsk = ({ story, tries }: World, index: number): boolean => {
  const client = story.clients[index];
  const own = tries.filter((one) => one.client === client);
  const isAnswered = ({ end, answer }: Try): boolean => {
    if (end !== 'heard' || answer === undefined || 'failed' in answer) return false;
    return 'accepted' in answer || answer.refused !== 'idempotency_key_in_use';
  };
  if (client === undefined || own.length >= client.tries || own.some(({ end }) => end === undefined)) return false;
  const before = story.clients[index - 1];
  const isTurn =
    story.oneAfterTheOther !== true || before === undefined || tries.some((t) => t.client === before && isAnswered(t));
  return isTurn && !own.some(isAnswered);
};

const begin = (world: World, { client, nth }: Pick<Try, 'client' | 'nth'>): void => {
  const beside = world.tries.filter(({ end }) => end === undefined);
  for (const other of beside) other.isAlone = false;
  // Clock and company are read without a call, each time that the code continues.
  const around = () => `${world.clock.now()} ${world.company.current.registration.issuerApproved}`;
  const one: Try = { client, nth, waiting: [], heard: [around()], isAlone: beside.length === 0 };
  world.tries.push(one);
  const gate = (call: string) =>
    new Promise<AppendFate>((go) => {
      one.waiting.push({ call, go });
    });
  const hear = (call: string, answer: unknown): void => {
    one.heard.push(`${call}: ${inWords(answer)}`, around());
    const { claim } = (call === 'claim' ? answer : {}) as { claim?: { leaseToken: string } };
    if (claim !== undefined) one.leaseToken = claim.leaseToken;
  };
  const request = requestOf(client.request);
  const { key } = client;
  const plainBodyHash = bodyHashOf(request);
  const mark = key === undefined ? {} : { idempotency: { keyHash: sha256Hex(key), plainBodyHash } };
  const real = gated(world.shared, gate, hear);
  const ports = world.story.broken?.(real, world.shared) ?? real;
  const hashes = world.story.keysChange === true && nth % 2 === 1 ? laterHashes : earlierHashes;
  void acceptInvoice({ request, ...mark }, requester, { ...depsOf(world, ports), hashes }).then(
    (result) => answered(world, one, answerOf(result)),
    () => answered(world, one, { failed: true }),
  );
};

const answerOf = (result: AcceptResult): Answer => {
  if ('refused' in result) return { refused: result.refused.code };
  const { invoiceId, amountInCents } = result.accepted.facts;
  return { accepted: { invoiceId, amountInCents } };
};

const answered = (world: World, one: Try, answer: Answer): void => {
  if (one.end === 'dead') return;
  one.answer = answer;
  if (world.budget.lostAnswers === 0) one.end = 'heard';
};

/** The dependencies that are equal in all stories: registry, tables and windows. */
const { deps: usual } = acceptHarness();

/** Of processes on either side of a change of keys; both compare under either. */
const hashesUnder = (...keys: [GuardKey, ...GuardKey[]]) =>
  guardHashes({
    inUse: async () => keys,
    ofTag: async (tag) => [laterKey, guardKeyOf(requester.mode)].find((one) => one.tag === tag)?.key,
  });

const earlierHashes = hashesUnder(guardKeyOf(requester.mode));
const laterHashes = hashesUnder(laterKey, guardKeyOf(requester.mode));

const depsOf = ({ clock, company }: World, ports: Ports): AcceptDeps => ({
  ...usual,
  // The processes do not see each other's.
  underWay: new Map(),
  store: createEventStore(ports.log, fixedKeys()),
  idempotency: ports.idempotency,
  duplicates: ports.duplicates,
  clock,
  company: async () => company.current,
});

/** Refusals are judged when they are given, everything else in every state. */
const judge = ({ shared, tries, accepted, clock, breach }: World): string | undefined => {
  if (breach !== undefined) return breach;
  for (const one of tries) {
    const { answer } = one;
    if (answer === undefined || !('refused' in answer) || one.heard.includes('judged')) continue;
    const untrue = untrueRefusal(
      answer.refused,
      one,
      accepted,
      tries.filter((other) => other !== one),
    );
    if (untrue !== undefined) return untrue;
    one.heard.push('judged');
  }
  const isOpen = (row: { invoiceId?: string; leasedUntil: string }): boolean =>
    row.invoiceId === undefined && isBefore(clock.now(), row.leasedUntil);
  const keys = shared.guards.contents().keys.map((row) => ({ leaseToken: row.leaseToken, isOpen: isOpen(row) }));
  return breachOf({ accepted, tries, keys });
};

const keyOf = ({ shared, clock, company, tries, budget, accepted }: World): string => {
  const { keys, marks } = shared.guards.contents();
  const seen = tries
    .map(({ client, nth, heard, waiting, answer, end }) => ({
      name: client.name,
      nth,
      answer,
      end,
      ...(end === undefined ? { heard, waiting: waiting.map(({ call }) => call).sort() } : {}),
    }))
    .sort((one, other) => (`${one.name}${one.nth}` < `${other.name}${other.nth}` ? -1 : 1));
  const { issuerApproved } = company.current.registration;
  const state = [clock.now(), keys, marks, accepted, shared.late.length, issuerApproved, budget, seen];
  return withoutChance(JSON.stringify(state));
};
