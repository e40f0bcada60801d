import { TooMuchWaits } from '../../waiting/fair-gate.js';

/**
 * Takes a place for a document of the owner and answers how to give it back, once. Throws `TooMuchWaits` when the owner has `ofOne`
 * places, or when `inAll` are taken and the owner has one already: nobody is left without a first place by what others take.
 */
export const createPlaces = ({ ofOne, inAll }: { ofOne: number; inAll: number }): ((owner: string) => () => void) => {
  const taken = new Map<string, number>();
  let all = 0;
  return (owner) => {
    const own = taken.get(owner) ?? 0;
    if (own >= ofOne || (all >= inAll && own > 0)) throw new TooMuchWaits('documents to be drawn');
    taken.set(owner, own + 1);
    all += 1;
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      all -= 1;
      const left = (taken.get(owner) ?? 0) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
    };
  };
};
