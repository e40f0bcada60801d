import type { Cents } from '../domain/common/money.js';
import { addSeconds, type Instant, isBefore } from '../domain/common/time.js';
import type { FaultTarget } from './state/faults.js';

/** What a test value brings about; docs/simulator.md#test-values says what a client of the service sees. */
type TestOutcome =
  | 'unregistered'
  | 'refused'
  | 'slow'
  | 'lost'
  | 'unsettled'
  | 'cancel_refused'
  | 'cancel_slow'
  | 'cancel_lost';

/** `customer`: a CNPJ or CPF with right check digits. `amountInCents` chooses the same for a note without such a customer. */
type TestValue = { outcome: TestOutcome; customer: string; amountInCents?: Cents };

/** Customers and amounts that make an outcome, in both environments. No CNPJ is in use: their numbers are far above all that were given. */
export const TEST_VALUES: readonly TestValue[] = [
  { outcome: 'unregistered', customer: '99990001000198' },
  { outcome: 'unregistered', customer: '99999900100' },
  { outcome: 'refused', customer: '99990002000132', amountInCents: 99_990_002 },
  { outcome: 'slow', customer: '99990003000187', amountInCents: 99_990_003 },
  { outcome: 'lost', customer: '99990004000121', amountInCents: 99_990_004 },
  { outcome: 'unsettled', customer: '99990005000176', amountInCents: 99_990_005 },
  { outcome: 'cancel_refused', customer: '99990006000110', amountInCents: 99_990_006 },
  { outcome: 'cancel_slow', customer: '99990007000165', amountInCents: 99_990_007 },
  { outcome: 'cancel_lost', customer: '99990008000100', amountInCents: 99_990_008 },
];

/** How long a slow answer takes, in milliseconds: a client that polls every 3 seconds sees it under way. */
export const SLOW_MS = 6_000;

/** For so long nothing can be learnt of an unsettled note, in seconds: beyond the 60 minutes of the contract (TRANS-3). */
export const UNSETTLED_SECONDS = 5_400;

/** What becomes of one call; `refuse` breaks a rule: E0312 of a note, E0822 of a cancellation. */
type Effect = 'refuse' | 'slow' | 'lost' | 'unsettled';

const EFFECTS: Readonly<Record<TestOutcome, Partial<Record<FaultTarget, Effect>>>> = {
  // By the register: `isUnregistered`.
  unregistered: {},
  refused: { issue: 'refuse' },
  slow: { issue: 'slow' },
  lost: { issue: 'lost' },
  unsettled: { issue: 'unsettled', lookup: 'unsettled' },
  cancel_refused: { event: 'refuse' },
  cancel_slow: { event: 'slow' },
  cancel_lost: { event: 'lost' },
};

type NoteOf = { customer?: string | undefined; amountInCents?: Cents | undefined };

/** The effect on this call about the note. Customer and amount may have effects on different calls; on the same call the customer's counts. */
export const testEffect = (on: FaultTarget, { customer, amountInCents }: NoteOf): Effect | undefined => {
  const byCustomer = TEST_VALUES.find((value) => value.customer === customer);
  const byAmount = TEST_VALUES.find((value) => amountInCents !== undefined && value.amountInCents === amountInCents);
  return [byCustomer, byAmount]
    .map((value) => (value === undefined ? undefined : EFFECTS[value.outcome][on]))
    .find((effect) => effect !== undefined);
};

/** Whether the federal register of the simulator does not know this CNPJ or CPF, unless an entry says otherwise. */
export const isUnregistered = (document: string): boolean =>
  TEST_VALUES.some(({ outcome, customer }) => outcome === 'unregistered' && customer === document);

/** Whether nothing can be learnt yet of an unsettled note that was made at this instant. */
export const isStillUnsettled = (authorizedAt: Instant, now: Instant): boolean =>
  isBefore(now, addSeconds(authorizedAt, UNSETTLED_SECONDS));
