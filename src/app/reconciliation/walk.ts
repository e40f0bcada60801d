import { absenceGapSeconds } from '../../domain/invoice/limits.js';
import { isInSample } from '../../domain/invoice/reconciliation.js';
import type { Mode, StreamName } from '../../domain/shared/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import type { AwaitedAbsence, Walk, WalkedInvoice } from '../../ports/reconciliation.js';
import type { ReconcileDeps } from './deps.js';
import { DOUBTFUL_DOCUMENT, type Look, lookAt } from './look.js';

/** `asked`: the authorizer was; `inconclusive`: it is away, or does not tell us. */
export type StepResult = 'asked' | 'inconclusive' | 'nothing to do';

const PAGE = 200;

/** First absences that wait for their second hearing; the walk waits behind so many. */
const MOST_AWAITED = 50;

/** An invoice of which nothing can be learnt must not hold up the others. */
const MOST_TRIES = 3;

/**
 * One step of a mode's walk: the second look at an absence whose time has come, else the next invoice of the round. Its place is
 * saved after each, so that a restart goes on from there. Only one process may do it at a time. Rejects with what a look threw, after
 * its place was saved: an invoice that always throws is left behind like one of which nothing can be learnt.
 */
export const walkOn = async (mode: Mode, deps: ReconcileDeps): Promise<StepResult> => {
  const { clock, limits, settings, walks } = deps;
  if (settings.samplePercent === 0) return 'nothing to do';
  const now = clock.now();
  const walk = await currentWalk(mode, deps, now);
  const due = walk.awaited.find(({ heardAt }) => !isBefore(now, addSeconds(heardAt, absenceGapSeconds(limits))));
  if (due !== undefined) return await lookAgain(mode, walk, due, deps);
  if (walk.endedAt !== undefined || walk.awaited.length >= MOST_AWAITED) return 'nothing to do';

  const page = await walks.page(mode, walk.after, PAGE);
  let { after } = walk;
  for (const invoice of page) {
    const { stream, isIssued } = invoice;
    if (isInReach(invoice, now, deps) && isInSample(isIssued, stream, walk.round, settings.samplePercent)) {
      const look = await tryToLook(stream, [], deps);
      if (look.result !== 'left_alone') return await goOn(mode, { ...walk, after }, stream, look, deps);
    }
    after = stream;
  }
  await walks.save(
    mode,
    page.length < PAGE ? { ...walk, after, tries: 0, endedAt: now } : { ...walk, after, tries: 0 },
  );
  return 'nothing to do';
};

const currentWalk = async (mode: Mode, { walks, settings }: ReconcileDeps, now: Instant): Promise<Walk> => {
  const walk = await walks.read(mode);
  if (walk === undefined) return { round: 1, startedAt: now, after: null, awaited: [], tries: 0 };
  const { endedAt, startedAt, round, awaited } = walk;
  if (endedAt === undefined || isBefore(now, addSeconds(startedAt, settings.roundSeconds))) return walk;
  return { round: round + 1, startedAt: now, after: null, awaited, tries: 0 };
};

const isInReach = ({ createdAt }: WalkedInvoice, now: Instant, { settings }: ReconcileDeps): boolean =>
  createdAt !== undefined &&
  !isBefore(now, addSeconds(createdAt, settings.settledSeconds)) &&
  isBefore(now, addSeconds(createdAt, settings.reachSeconds));

/** Behind this invoice, unless nothing was learnt and it may be tried again. */
const goOn = async (
  mode: Mode,
  walk: Walk,
  stream: StreamName,
  look: Tried,
  deps: ReconcileDeps,
): Promise<StepResult> => {
  deps.onLook(mode, look.result);
  const isAway = isWorthATry(look);
  if (isAway && walk.tries + 1 < MOST_TRIES) {
    await deps.walks.save(mode, { ...walk, tries: walk.tries + 1 });
    return told(look, 'inconclusive');
  }
  const heard = { stream, heardAt: deps.clock.now(), questions: look.absentOnce };
  const awaited = look.absentOnce.length === 0 ? walk.awaited : [...walk.awaited, heard];
  await deps.walks.save(mode, { ...walk, awaited, after: stream, tries: 0 });
  return told(look, isAway ? 'inconclusive' : 'asked');
};

/** An answer that proves nothing leaves the first hearing where it is, behind the others. */
const lookAgain = async (mode: Mode, walk: Walk, due: AwaitedAbsence, deps: ReconcileDeps): Promise<StepResult> => {
  const look = await tryToLook(due.stream, due.questions, deps);
  deps.onLook(mode, look.result);
  const others = walk.awaited.filter((one) => one !== due);
  const isAway = isWorthATry(look);
  const heard = { stream: due.stream, heardAt: deps.clock.now(), questions: look.absentOnce };
  const still = isAway ? [{ ...due, heardAt: deps.clock.now() }] : look.absentOnce.length > 0 ? [heard] : [];
  await deps.walks.save(mode, { ...walk, awaited: [...others, ...still] });
  return told(look, isAway ? 'inconclusive' : 'asked');
};

type Tried = Look & { thrown?: { error: unknown } };

const tryToLook = async (stream: StreamName, awaited: readonly string[], deps: ReconcileDeps): Promise<Tried> => {
  try {
    return await lookAt(stream, awaited, deps);
  } catch (error) {
    return { result: 'inconclusive', absentOnce: [], thrown: { error } };
  }
};

const told = ({ thrown }: Tried, result: StepResult): StepResult => {
  if (thrown !== undefined) throw thrown.error;
  return result;
};

/**
 * Another try may help. It does not when nobody was asked, the company's certificate being gone or over, nor when what stands there
 * is a document that nobody vouches for.
 */
const isWorthATry = ({ result, reason }: Look): boolean =>
  result === 'inconclusive' && reason !== DOUBTFUL_DOCUMENT && reason?.startsWith('certificate_') !== true;
