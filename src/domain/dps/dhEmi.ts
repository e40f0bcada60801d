import { addSeconds, brasiliaMidnight, brasiliaStamp, type FiscalDate, type Instant, latest } from '../shared/time.js';
import { CLOCK_SLACK_SECONDS } from './layout.js';

/** What acceptance says about time: when the call came, and the day in Brasília that it came on. */
export type Receipt = { acceptedAt: Instant; competence: FiscalDate };

/** `dhEmi`: behind the authorizer's clock (E0008), but not on the day before the competence (E0015). */
export const dhEmi = (receipt: Receipt): string => {
  const stamp = stampOf(receipt);
  return isOnCompetence(stamp, receipt) ? stamp : brasiliaStamp(brasiliaMidnight(receipt.competence));
};

/**
 * From when on the stamp is a whole slack old: at once, but in the first minute of a day. Sent earlier there, a clock of
 * the authorizer that is seconds slow would refuse the DPS for good (E0008).
 */
export const sendableFrom = (receipt: Receipt): Instant =>
  isOnCompetence(stampOf(receipt), receipt)
    ? receipt.acceptedAt
    : latest(receipt.acceptedAt, addSeconds(brasiliaMidnight(receipt.competence), CLOCK_SLACK_SECONDS));

const stampOf = ({ acceptedAt }: Receipt): string => brasiliaStamp(addSeconds(acceptedAt, -CLOCK_SLACK_SECONDS));

/** Days as text compare like days; finding midnight costs twice as much as the stamp and is rarely needed. */
const isOnCompetence = (stamp: string, { competence }: Receipt): boolean =>
  stamp.slice(0, competence.length) >= competence;
