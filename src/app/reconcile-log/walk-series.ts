import { MAX_DPS_NUMBER } from '../../domain/dps-number/dps-number.js';
import { dpsId } from '../../domain/shared/access-key.js';
import type { AuthorizedNote } from '../../ports/authorizer.js';
import type { ReconcileDeps, Walk } from './reconcile-deps.js';

export type FoundNote = { number: number; note: AuthorizedNote };

/** Every number was answered by a note or by the authorizer's own "not there"; otherwise nothing is proven. */
export type Walked = { found: readonly FoundNote[]; absent: readonly number[] } | { unproven: string };

/** Asked at once: what one issuing process does too. */
const AT_ONCE = 8;

/**
 * Asks for each number that was taken and not used as far as the log knows, then from the next one on until `span` in a row are
 * absent: numbers may be left out, when an invoice never got to its attempt.
 */
export const walkSeries = async (walk: Walk, deps: ReconcileDeps): Promise<Walked> => {
  const taken = await askAll(walk.taken, walk, deps);
  if ('unproven' in taken) return taken;
  const beyond = await walkFrom(walk.nextNumber, walk, deps);
  if ('unproven' in beyond) return beyond;
  return { found: [...taken.found, ...beyond.found], absent: [...taken.absent, ...beyond.absent] };
};

/** The same numbers once more, later: a note that was just registered may be hidden from the first look-up. */
export const askAgain = async (walk: Walk, absent: readonly number[], deps: ReconcileDeps): Promise<Walked> => {
  const again = await askAll(absent, walk, deps);
  if ('unproven' in again || again.found.length === 0) return again;
  const furthest = Math.max(...again.found.map(({ number }) => number));
  const asked = Math.max(...absent);
  const beyond = await walkFrom(asked + 1, walk, deps, asked - furthest);
  if ('unproven' in beyond) return beyond;
  return { found: [...again.found, ...beyond.found], absent: [...again.absent, ...beyond.absent] };
};

const walkFrom = async (first: number, walk: Walk, deps: ReconcileDeps, absentBefore = 0): Promise<Walked> => {
  const found: FoundNote[] = [];
  const absent: number[] = [];
  let inARow = absentBefore;
  for (let next = first; inARow < deps.span && next <= MAX_DPS_NUMBER; ) {
    const size = Math.min(AT_ONCE, deps.span - inARow, MAX_DPS_NUMBER - next + 1);
    const numbers = Array.from({ length: size }, (_, index) => next + index);
    const asked = await askAll(numbers, walk, deps);
    if ('unproven' in asked) return asked;
    found.push(...asked.found);
    absent.push(...asked.absent);
    const last = Math.max(0, ...asked.found.map(({ number }) => number));
    inARow = last === 0 ? inARow + size : next + size - 1 - last;
    next += size;
  }
  return { found, absent };
};

const askAll = async (numbers: readonly number[], walk: Walk, deps: ReconcileDeps): Promise<Walked> => {
  const found: FoundNote[] = [];
  const absent: number[] = [];
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    const answers = await Promise.all(
      numbers.slice(from, from + AT_ONCE).map(async (number) => ({ number, answer: await ask(number, walk, deps) })),
    );
    for (const { number, answer } of answers) {
      if (answer.kind === 'inconclusive') return { unproven: answer.reason };
      if (answer.kind === 'found') found.push({ number, note: answer.found });
      else absent.push(number);
    }
  }
  return { found, absent };
};

const ask = (number: number, { mode, companyId, municipality, series }: Walk, { authorizer }: ReconcileDeps) =>
  authorizer.findByDps({ mode, companyId }, dpsId({ municipality, cnpj: companyId, series, number }));
