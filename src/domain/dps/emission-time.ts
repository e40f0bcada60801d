import { addSeconds, brasiliaMidnight, brasiliaStamp, type FiscalDate, type Instant, laterOf } from '../common/time.js';
import { CLOCK_SLACK_SECONDS } from './layout.js';

/** Times of an acceptance: the instant of the call and its day in Brasília. */
type AcceptanceTimes = { acceptedAt: Instant; competence: FiscalDate };

/** `dhEmi`: behind the authorizer's clock (E0008), but not before the day of the competence (E0015). */
export const dhEmi = (receipt: AcceptanceTimes): string => {
  const stamp = stampOf(receipt);
  return isOnCompetence(stamp, receipt) ? stamp : brasiliaStamp(brasiliaMidnight(receipt.competence));
};

/**
 * From this instant the stamp is a whole slack old. That is at once, except in the first minute of a day: there, an authorizer whose clock
 * is seconds slow would refuse the DPS (E0008).
 */
export const sendableFrom = (receipt: AcceptanceTimes): Instant =>
  isOnCompetence(stampOf(receipt), receipt)
    ? receipt.acceptedAt
    : laterOf(receipt.acceptedAt, addSeconds(brasiliaMidnight(receipt.competence), CLOCK_SLACK_SECONDS));

const stampOf = ({ acceptedAt }: AcceptanceTimes): string =>
  brasiliaStamp(addSeconds(acceptedAt, -CLOCK_SLACK_SECONDS));

/** Days compare correctly as text. Finding midnight costs twice as much as the stamp and is rarely needed. */
const isOnCompetence = (stamp: string, { competence }: AcceptanceTimes): boolean =>
  stamp.slice(0, competence.length) >= competence;
