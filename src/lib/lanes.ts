/** Test work has a separate lane, so that a flood of it does not delay live work. */
export type Lane = 'live' | 'test';

/** One in this many places is never given to test work, so that live work finds one free. */
const LIVE_SHARE = 4;

/** Live work goes first, except that one in this many is taken from test work first, so that neither starves the other. */
const TEST_TURN = 4;

/** How many of the places test work may take. */
export const testPlacesOf = (places: number): number => (places === 1 ? 1 : places - Math.ceil(places / LIVE_SHARE));

/** Takes from the lane whose turn is next, else from the other one. `takeFrom` returns undefined when nothing of the lane may begin now. */
export const createLaneTurns = () => {
  let taken = 0;
  return <T>(takeFrom: (lane: Lane) => T | undefined): T | undefined => {
    const isTestTurn = (taken + 1) % TEST_TURN === 0;
    const next = isTestTurn ? (takeFrom('test') ?? takeFrom('live')) : (takeFrom('live') ?? takeFrom('test'));
    if (next !== undefined) taken += 1;
    return next;
  };
};
