import { unreachable } from '../../domain/common/unreachable.js';
import type { World } from '../environment.js';
import { isKnownCode, type Refusal, refusal } from '../refusal.js';
import type { Fault, FaultKind, Taken } from '../state/faults.js';
import { isStillUnsettled, SLOW_MS, testEffect } from '../test-values.js';
import { type Answer, type JsonObject, webServerPage } from './answer.js';
import type { Operation } from './operation.js';
import { variantOf } from './variants.js';

/** Answers a call under the faults that apply to it. */
export const answerUnderFaults = async (world: World, operation: Operation, taken: Taken): Promise<Answer> => {
  const { stale } = taken;
  if (stale === undefined) return answerUnder(world, operation, taken);
  if (operation.effect.kind === 'reads') return operation.effect.absent();
  const { hides } = operation.effect;
  if (hides === undefined) return answerUnder(world, operation, taken);
  // The note is hidden before it exists; otherwise a look-up could see it between its commit and the hiding.
  world.hidden.hide(hides);
  try {
    return await answerUnder(world, operation, taken);
  } finally {
    world.timers.after(stale.delayMs, () => world.hidden.show(hides));
  }
};

const answerUnder = async (world: World, operation: Operation, { main: fault, nth }: Taken): Promise<Answer> => {
  if (fault === undefined) return operation.perform();
  switch (fault.kind) {
    case 'reject':
      return operation.refuse([refusalOf(fault, 'RNG9999')]);
    case 'late_commit':
      world.timers.after(fault.delayMs, () => void operation.perform().catch(() => undefined));
      return fault.code === undefined ? { kind: 'cut' } : operation.refuse([refusalOf(fault, 'RNG9999')]);
    case 'lost_before_commit':
      return { kind: 'cut' };
    case 'lost_after_commit':
      await operation.perform();
      return { kind: 'cut' };
    case 'transient':
    case 'reset':
    case 'http_429':
    case 'http_500':
    case 'http_502_html':
    case 'http_503':
    case 'http_403_html':
    case 'http_404_html':
      if (fault.commit === true) await operation.perform();
      return fault.kind === 'transient' ? operation.refuse([refusalOf(fault, 'E1217')]) : FAILURES[fault.kind];
    case 'slow':
      return slowly(world, operation, fault);
    case 'garbage': {
      const answer = await maybePerform(operation, fault);
      const status = 'status' in answer ? answer.status : 200;
      return { kind: 'raw', status, text: '{"tipoAmbiente":2,"versaoAplicativo":"Sef' };
    }
    case 'missing_key':
      return withBody(await maybePerform(operation, fault), withoutKeys);
    case 'casing':
      return withBody(await operation.perform(), (body) => variantOf(body, nth));
    case 'stale':
      return operation.perform();
    default:
      return unreachable(fault.kind);
  }
};

/** Failures without an error code: none at all, JSON of the framework or of the gateway, or a page of the web server. */
const FAILURES = {
  reset: { kind: 'reset' },
  http_429: { kind: 'json', status: 429, body: { statusCode: 429, message: 'Rate limit is exceeded.' } },
  http_500: { kind: 'json', status: 500, body: { message: 'An error has occurred.' } },
  http_502_html: webServerPage(502),
  http_503: webServerPage(503),
  http_403_html: webServerPage(403),
  http_404_html: webServerPage(404),
} as const satisfies Partial<Record<FaultKind, Answer>>;

const refusalOf = ({ code, message }: Fault, usual: 'RNG9999' | 'E1217'): Refusal => {
  const official = code === undefined ? refusal(usual) : isKnownCode(code) ? refusal(code) : undefined;
  return { code: code ?? usual, message: message ?? official?.message ?? 'Rejeição ordenada ao simulador.' };
};

const slowly = async (world: World, operation: Operation, { delayMs, commit }: Fault): Promise<Answer> => {
  const answer: Answer = commit === false ? { kind: 'cut' } : await operation.perform();
  await world.timers.wait(delayMs);
  return answer;
};

/** A damaged success commits unless the fault says `commit: false`: the dangerous case is an unreadable 201 whose note exists. */
const maybePerform = async ({ perform, effect }: Operation, { commit }: Fault): Promise<Answer> =>
  commit === false
    ? { kind: 'json', status: effect.kind === 'writes' ? 201 : 200, body: { alertas: null } }
    : perform();

const KEYS = ['chaveAcesso', 'nfseXmlGZipB64', 'eventoXmlGZipB64', 'eventos', 'idDps'];

const withoutKeys = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !KEYS.includes(name)));

const withBody = (answer: Answer, change: (body: JsonObject) => JsonObject): Answer =>
  answer.kind === 'json' ? { ...answer, body: change(answer.body) } : answer;

/** The answer, and the fault that it equals; none where the call is answered as usual. */
type Answered = { answer: Answer; fault?: FaultKind };

/**
 * Performs a call, and answers as the test value of its note says. Only a success is changed: a document that is refused has its usual answer.
 * The refusals of test values are among the rules.
 */
export const answerOfTestValue = async (world: World, operation: Operation): Promise<Answered> => {
  const { on, note } = operation;
  const answer = await operation.perform();
  if (!('status' in answer) || answer.status >= 300) return { answer };
  switch (testEffect(on, note)) {
    case 'slow':
      await world.timers.wait(SLOW_MS);
      return { answer, fault: 'slow' };
    case 'lost':
      return { answer: { kind: 'cut' }, fault: 'lost_after_commit' };
    case 'unsettled': {
      const isOver = note.authorizedAt !== undefined && !isStillUnsettled(note.authorizedAt, world.clock.now());
      // A code that proves nothing and is no outage, so that other companies' sends go on.
      return isOver ? { answer } : { answer: operation.refuse([refusal('RNG9999')]), fault: 'transient' };
    }
    default:
      return { answer };
  }
};
