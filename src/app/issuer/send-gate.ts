import type { Mode } from '../../domain/shared/ids.js';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { Caller, LookupResult, SendResult } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import { admit, answered, type Circuit, closedCircuit, learnedNothing, metOutage, paceOf } from './circuit.js';

/** Says "is it there?" of a send that met an outage, under any company's certificate: it leaves nothing behind. */
export type Question = (caller: Caller) => Promise<LookupResult<unknown>>;

/** One admitted send. `saw` tells what came of it; `leave` always follows, whether or not anything was sent. */
export type Pass = {
  kind: 'pass';
  saw(result: SendResult<unknown>, question: Question): void;
  leave(): void;
};

export type SendGate = {
  /** Asked before anything of an attempt is recorded; who is paused has lost nothing and comes again at `until`. */
  enter(caller: Caller): Promise<Pass | { kind: 'paused'; until: Instant }>;
  /** Whether sends to the environment go on unhindered; what can wait asks this before it calls. */
  isClosed(mode: Mode): boolean;
};

export type CircuitChange = { mode: Mode; from: Circuit['state']; to: Circuit['state']; until?: Instant };

export type SendGateOptions = {
  clock: Clock;
  /** Longer than a question or a send can last, from its admission on. */
  leaseSeconds: number;
  /** Of the invoices, in seconds: pauses are for those of the contract, and shorter where a rehearsal has shorter ones. */
  shortestWindowSeconds: number;
  /** From 0 to 1, anew each time. */
  chance(): number;
  onChange(change: CircuitChange): void;
};

/**
 * About the last sends that met an outage; the next to be asked stands last, and stays there while it is answered.
 * `answered`: since the last outage, so that a send may go.
 */
type Doubt = { questions: readonly Question[]; answered: boolean };

const NO_DOUBT: Doubt = { questions: [], answered: false };

const QUESTIONS_KEPT = 5;

/** Those who wait come back spread over so many seconds. */
const SPREAD_SECONDS = 5;

/** A breaker for each environment, in the memory of this process: it saves attempts, and losing it costs a few (ADR 17). */
export const createSendGate = (options: SendGateOptions): SendGate => {
  const { clock, leaseSeconds, chance, onChange } = options;
  const pace = paceOf(options.shortestWindowSeconds);
  const circuits: Record<Mode, Circuit> = { live: closedCircuit, test: closedCircuit };
  const doubts: Record<Mode, Doubt> = { live: NO_DOUBT, test: NO_DOUBT };

  const turn = (mode: Mode, to: Circuit): void => {
    const from = circuits[mode];
    circuits[mode] = to;
    if (to.state === 'closed' && to.failures === 0) doubts[mode] = NO_DOUBT;
    if (from.state === to.state) return;
    onChange({ mode, from: from.state, to: to.state, ...(to.state === 'open' ? { until: to.until } : {}) });
  };

  const outage = ({ mode, companyId }: Caller, isProbe: boolean): void =>
    turn(mode, metOutage(circuits[mode], { company: companyId, isProbe, now: clock.now(), chance: chance(), pace }));

  const passFor = (caller: Caller, isProbe: boolean): Pass => {
    const { mode } = caller;
    let reported = false;
    return {
      kind: 'pass',
      saw: (result, question) => {
        reported = true;
        if (result.kind === 'done' || result.kind === 'rejected') return turn(mode, answered());
        if (result.outage === true) {
          const questions = [...doubts[mode].questions, question].slice(-QUESTIONS_KEPT);
          doubts[mode] = { questions, answered: false };
          return outage(caller, isProbe);
        }
        // Codes about the caller or the document come of an environment that works.
        const isAnswer = result.kind === 'unknown' ? result.codes.length > 0 : result.certificateRefused;
        turn(mode, isAnswer ? answered() : learnedNothing(circuits[mode], isProbe));
      },
      leave: () => {
        if (!reported) turn(mode, learnedNothing(circuits[mode], isProbe));
      },
    };
  };

  /** A question costs nothing, an attempt that meets an outage may cost its invoice an hour: so the question goes first. */
  const askFirst = async (caller: Caller, question: Question): Promise<Instant> => {
    const heard = await question(caller).catch(() => undefined);
    const { questions } = doubts[caller.mode];
    if (heard?.kind === 'inconclusive' && heard.outage === true) {
      // Another one next time: a single document that cannot be looked up must not hold up everybody's sends.
      const others = questions.filter((other) => other !== question);
      doubts[caller.mode] = { questions: [question, ...others], answered: false };
      outage(caller, true);
    } else {
      doubts[caller.mode] = { questions, answered: true };
      // What is found was taken: the environment takes sends, and only its answer got lost.
      turn(caller.mode, heard?.kind === 'found' ? answered() : learnedNothing(circuits[caller.mode], true));
    }
    const circuit = circuits[caller.mode];
    // What was decided before the question is old by now: the one who asked decides again, and then may send.
    return circuit.state === 'open' ? circuit.until : clock.now();
  };

  return {
    isClosed: (mode) => circuits[mode].state === 'closed',
    enter: async (caller) => {
      const asked = admit(circuits[caller.mode], caller.companyId, clock.now(), { leaseSeconds, pace });
      turn(caller.mode, asked.circuit);
      const { admission } = asked;
      if (admission.kind === 'paused') {
        return { kind: 'paused', until: addSeconds(admission.until, SPREAD_SECONDS * pace * chance()) };
      }
      const isProbe = admission.kind === 'probe';
      const { questions, answered: isAnswered } = doubts[caller.mode];
      const question = isProbe && !isAnswered ? questions.at(-1) : undefined;
      return question === undefined
        ? passFor(caller, isProbe)
        : { kind: 'paused', until: await askFirst(caller, question) };
    },
  };
};
