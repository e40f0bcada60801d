import { describe, expect, it } from 'vitest';
import { startRun } from './accepting-run.js';
import * as sabotage from './accepting-sabotage.js';
import { type Client, none, type Story } from './accepting-world.js';
import { exploreRuns } from './replay.js';

const isFull = process.env.MODEL_FULL === '1';
const MOST = isFull ? 1_000_000 : 20_000;
const PATIENCE_MS = isFull ? 3_600_000 : 600_000;

/** Two clients with the same request, except for the given differences. */
const two = (common: Partial<Client>, ...own: readonly Partial<Client>[]): readonly Client[] =>
  ['Ana', 'Bea'].map((name, index) => ({ name, tries: 2, request: {}, ...common, ...own[index] }));

const oneKey = two({ key: 'k' });
const oneKeyTwice = two({ key: 'k' }, {}, { tries: 1 });
const oneKeyTwoReferences = two({ key: 'k' }, { request: { reference: 'a' } }, { request: { reference: 'b' } });
const threeOneLater = [
  { name: 'Ana', key: 'k', request: { reference: 'a' }, tries: 1 },
  { name: 'Bea', key: 'k', request: { reference: 'a' }, tries: 1 },
  { name: 'Cai', key: 'k', request: { reference: 'b' }, tries: 1 },
];
/** The first is in the middle of its request when its lease ends. */
const frozen = { begin: ['Ana asks, try 0', 'Ana 0: claim', '6 s pass'], freezes: true };
const oneReferenceTwoKeys = two(
  { request: { reference: 'a' } },
  { key: 'a' },
  { key: 'b', request: { reference: 'a', amountInCents: 20_000 } },
);
const noKey = two({});
const keyedThenNot = two({}, { key: 'a' });
/** Every client but the first gives up after one try. */
const othersOnce = (clients: readonly Client[]): readonly Client[] =>
  clients.map((client, nth) => (nth === 0 ? client : { ...client, tries: 1 }));
const lone = (more: Partial<Client>): readonly Client[] => [{ name: 'Ana', tries: 3, request: {}, ...more }];

const small: readonly (readonly [what: string, story: Story])[] = [
  [
    'one key for two references, a process that is frozen for longer than its lease, and an engine that is away',
    { ...frozen, clients: threeOneLater, budget: { ...none, away: 1, passes: [6] } },
  ],
  ['one key, a crash, and a lease that ends', { clients: oneKey, budget: { ...none, crashes: 1, passes: [6] } }],
  [
    'one key, and a process that is frozen for longer than its lease',
    { clients: oneKey, budget: { ...none, passes: [6] }, freezes: true },
  ],
  ['one key, and an append that nobody hears of', { clients: oneKey, budget: { ...none, uncertain: 1, passes: [6] } }],
  [
    'one key for two references, and a crash',
    { clients: oneKeyTwoReferences, budget: { ...none, crashes: 1, passes: [6] } },
  ],
  [
    'one reference with two keys, and an uncertain append',
    { clients: oneReferenceTwoKeys, budget: { ...none, uncertain: 1 } },
  ],
  [
    'no key, a crash, an engine that is away, and an uncertain append',
    { clients: noKey, budget: { ...none, crashes: 1, uncertain: 1, away: 1, passes: [21] } },
  ],
  [
    'no key, and a process that is frozen until its mark is taken over, while the engine is away',
    { clients: noKey, budget: { ...none, away: 1, passes: [21] }, freezes: true },
  ],
  [
    'the same without a key after it was accepted with one',
    { clients: keyedThenNot, budget: { ...none, lostAnswers: 1 }, oneAfterTheOther: true },
  ],
  [
    'one key, a crash, and a company that can issue no more',
    { clients: oneKeyTwice, budget: { ...none, crashes: 1, spoiled: 1, passes: [6] } },
  ],
  [
    'an uncertain append, and a company that can issue no more',
    { clients: lone({ key: 'k' }), budget: { ...none, uncertain: 1, lostAnswers: 1, spoiled: 1, passes: [6] } },
  ],
  [
    'one key, a process that is frozen for longer than its lease, and a company that can issue no more',
    { clients: oneKeyTwice, budget: { ...none, spoiled: 1, passes: [6] }, freezes: true },
  ],
  [
    'one key, an append that nobody hears of, a company that can issue no more, and time until no append can come',
    { clients: lone({ key: 'k' }), budget: { ...none, uncertain: 1, spoiled: 1, passes: [6, 21] } },
  ],
  [
    'one key, and guards that are lost and filled again',
    { clients: oneKeyTwice, budget: { ...none, guardsLost: 1, uncertain: 1 } },
  ],
  [
    'one key, and guards that are lost for good',
    { clients: oneKeyTwice, budget: { ...none, guardsLost: 1, crashes: 1 }, isRebuilt: false },
  ],
  [
    'one key, a crash, and hashes under another key from then on',
    { clients: oneKey, budget: { ...none, crashes: 1, passes: [6] }, keysChange: true },
  ],
  [
    'no key, a crash, and hashes under another key from then on',
    { clients: noKey, budget: { ...none, crashes: 1, uncertain: 1, passes: [21] }, keysChange: true },
  ],
  [
    'one key, guards that are lost and filled again, and hashes under another key',
    { clients: oneKeyTwice, budget: { ...none, guardsLost: 1, uncertain: 1 }, keysChange: true },
  ],
  [
    'a key that is used again after its day',
    { clients: lone({ key: 'k' }), budget: { ...none, lostAnswers: 1, passes: [86_401] } },
  ],
];

/** With more faults, time passes until no late append can come, and the second client tries once, or a run would take hours. */
const large: typeof small = [
  [
    'one key, two crashes and two uncertain appends',
    { clients: oneKey, budget: { ...none, crashes: 2, uncertain: 2, passes: [21, 21] } },
  ],
  [
    'one key, one of each fault of the engines, and a company that can issue no more',
    { clients: oneKeyTwice, budget: { ...none, crashes: 1, uncertain: 1, away: 1, spoiled: 1, passes: [21] } },
  ],
  [
    'one key, a crash, an uncertain append, a lost answer, and a company that can issue no more',
    { clients: oneKeyTwice, budget: { ...none, crashes: 1, lostAnswers: 1, uncertain: 1, spoiled: 1, passes: [21] } },
  ],
  [
    'one key for two references, and one of each fault of the engines',
    { clients: othersOnce(oneKeyTwoReferences), budget: { ...none, crashes: 1, uncertain: 1, away: 1, passes: [21] } },
  ],
  [
    'one reference with two keys, and one of each fault',
    {
      clients: othersOnce(oneReferenceTwoKeys),
      budget: { ...none, crashes: 1, lostAnswers: 1, uncertain: 1, away: 1, passes: [21] },
    },
  ],
  [
    'no key, two crashes and two uncertain appends, and an engine that is away',
    { clients: othersOnce(noKey), budget: { ...none, crashes: 2, uncertain: 2, away: 1, passes: [21, 21] } },
  ],
  [
    'three clients with one key, and a crash',
    {
      clients: [...oneKeyTwice, { name: 'Cai', key: 'k', tries: 1, request: {} }],
      budget: { ...none, crashes: 1, passes: [21] },
    },
  ],
];

/** The same story where log and guards are one database, which cannot lose the guards alone. */
const inOneDatabase = (stories: typeof small): typeof small =>
  stories
    .filter(([, { budget, freezes }]) => budget.guardsLost === 0 && freezes !== true)
    .map(([what, story]) => [`${what}, in one database`, { ...story, isOneDatabase: true }]);

const together: typeof small = [
  ...inOneDatabase(small),
  [
    'the same without a key after an append with one that nobody hears of, in one database',
    {
      clients: keyedThenNot,
      budget: { ...none, uncertain: 1, lostAnswers: 1 },
      oneAfterTheOther: true,
      isOneDatabase: true,
    },
  ],
  [
    'a key for two references, an append that nobody hears of, and a crash, in one database',
    { clients: oneKeyTwoReferences, budget: { ...none, crashes: 1, uncertain: 1, passes: [6] }, isOneDatabase: true },
  ],
];

describe('acceptance at two api processes, every interleaving of their calls to the engines', () => {
  it.each(isFull ? [...small, ...together, ...large, ...inOneDatabase(large)] : [...small, ...together])(
    'promises an invoice once and refuses none that it promised: %s',
    async (_what, story) => {
      const { breach, states } = await exploreRuns(() => startRun(story), MOST, story.begin);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(15);
    },
    PATIENCE_MS,
  );

  const sabotaged: readonly (readonly [what: string, story: Story, breach: string])[] = [
    [
      'an acceptance is appended whatever stands on its stream',
      { broken: sabotage.appendsAnywhere, clients: oneReferenceTwoKeys, budget: none },
      'two acceptances on one stream',
    ],
    [
      'the id is not derived from the key and the guards are lost',
      {
        broken: sabotage.givesEachTryItsOwnStream,
        clients: oneKey,
        budget: { ...none, guardsLost: 1 },
        isRebuilt: false,
      },
      'two invoices for one key',
    ],
    [
      'event ids do not derive from the command',
      { broken: sabotage.derivesEventIdsFromTheStream, clients: oneReferenceTwoKeys, budget: none },
      'shows what is not stored',
    ],
    [
      'whatever stands on the stream after an uncertain append is taken for the own',
      { broken: sabotage.takesAnybodysEventForItsOwn, clients: oneReferenceTwoKeys, budget: { ...none, uncertain: 1 } },
      'shows what is not stored',
    ],
    [
      'an uncertain append is taken for one that stored nothing',
      { broken: sabotage.takesUncertainForNotStored, clients: noKey, budget: { ...none, uncertain: 1 } },
      'two invoices within',
    ],
    [
      'the event does not carry the key and its body',
      { broken: sabotage.leavesTheKeyOutOfTheEvent, clients: oneKey, budget: { ...none, guardsLost: 1 } },
      'two invoices within',
    ],
    [
      'a key is claimed by everybody',
      { broken: sabotage.grantsEveryClaim, clients: oneKeyTwoReferences, budget: none },
      'two invoices for one key',
    ],
    [
      'a retry after a crash is a new command',
      {
        broken: sabotage.forgetsTheFirstCommand,
        clients: oneKey,
        budget: { ...none, crashes: 1, spoiled: 1, passes: [6] },
      },
      'refused although it was accepted',
    ],
    [
      'a retry is refused while the append of the first try may come',
      {
        broken: sabotage.takesEveryClaimForAnOldOne,
        clients: lone({ key: 'k' }),
        budget: { ...none, uncertain: 1, spoiled: 1, passes: [6] },
      },
      'accepted although it was refused',
    ],
    [
      'a key is not bound to its body',
      {
        broken: sabotage.takesEveryBodyForTheSame,
        clients: two({ key: 'k' }, {}, { request: { amountInCents: 1 } }),
        budget: none,
      },
      'shows another request',
    ],
    [
      'a 4xx does not free its key',
      { broken: sabotage.keepsRefusedKeys, clients: oneKey, budget: { ...none, spoiled: 1 } },
      'a refusal keeps the key',
    ],
    [
      'a key is released by whoever held it before',
      {
        broken: sabotage.releasesWhatOthersHold,
        clients: threeOneLater,
        budget: { ...none, away: 1, passes: [6] },
        ...frozen,
      },
      'two invoices for one key',
    ],
    [
      'guards that were lost are not filled again',
      { clients: oneKeyTwoReferences, budget: { ...none, guardsLost: 1 }, isRebuilt: false },
      'two invoices for one key',
    ],
    [
      'a keyed request does not count in the duplicate window',
      { broken: sabotage.letsKeyedRequestsLeaveNoMark, clients: keyedThenNot, budget: none, oneAfterTheOther: true },
      'two invoices within',
    ],
    [
      'a mark is taken over under another invoice id while its request may be on the way',
      { broken: sabotage.placesOverOldMarks, clients: noKey, budget: { ...none, uncertain: 1, passes: [21] } },
      'two invoices within',
    ],
    [
      'a late refusal removes the mark of the request that took it over',
      {
        broken: sabotage.removesMarksOfOthers,
        clients: noKey,
        budget: { ...none, away: 1, passes: [21] },
        freezes: true,
      },
      'two invoices within',
    ],
    [
      'a mark outlives the refusal of its request',
      { broken: sabotage.neverRemovesMarks, clients: noKey, budget: { ...none, away: 1 } },
      'suspected although',
    ],
  ];

  const sabotagedTogether: typeof sabotaged = [
    [
      'an append with guards leaves its key free',
      { broken: sabotage.storesAnotherKey, clients: oneKeyTwoReferences, budget: none, isOneDatabase: true },
      'two invoices for one key',
    ],
    [
      'an append with guards leaves no mark',
      {
        broken: sabotage.storesAnotherMark,
        clients: keyedThenNot,
        budget: none,
        oneAfterTheOther: true,
        isOneDatabase: true,
      },
      'two invoices within',
    ],
    [
      'a released key leaves no row, and an append with guards was decided before',
      {
        broken: sabotage.forgetsReleasedKeys,
        clients: oneKeyTwice,
        budget: { ...none, spoiled: 1 },
        isOneDatabase: true,
      },
      'accepted although it was refused',
    ],
  ];

  it.each([...sabotaged, ...sabotagedTogether])(
    'finds the harm when %s',
    async (_what, story, breach) => {
      const { breach: found } = await exploreRuns(() => startRun(story), MOST, story.begin);
      expect(found?.what).toContain(breach);
    },
    PATIENCE_MS,
  );
});
