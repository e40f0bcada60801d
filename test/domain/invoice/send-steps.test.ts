import { describe, expect, it } from 'vitest';
import {
  type LookupProgress,
  progressAfter,
  progressOfSend,
  provesAbsence,
  stepAfterSend,
} from '../../../src/domain/invoice/send-steps.js';
import type { Send } from '../../../src/domain/invoice/state.js';
import { at, limits } from '../../support/fixture/invoice.js';

const before: LookupProgress = { asked: 2, lastAskedAt: at(100), firstAbsentAt: at(100) };

describe('the progress after a look-up', () => {
  it('keeps the first absence when nothing is shown, and when another absence does not complete the proof', () => {
    const kept = { asked: 3, lastAskedAt: at(130), firstAbsentAt: at(100) };
    expect(progressAfter(before, { askedAt: at(130), kind: 'inconclusive' }, false)).toEqual(kept);
    expect(progressAfter(before, { askedAt: at(130), kind: 'absent' }, true)).toEqual(kept);
  });

  it('is without an absence after a document was found', () => {
    expect(progressAfter(before, { askedAt: at(130), kind: 'found' }, false)).toEqual({
      asked: 3,
      lastAskedAt: at(130),
    });
  });

  it('counts no look-up that was not asked, so that the pause grows no longer, and keeps the first absence', () => {
    const kept = { asked: 2, lastAskedAt: at(130), firstAbsentAt: at(100) };
    expect(progressAfter(before, { askedAt: at(130), kind: 'not_asked' }, false)).toEqual(kept);
    expect(progressAfter({ asked: 0 }, { askedAt: at(40), kind: 'not_asked' }, true)).toEqual({
      asked: 0,
      lastAskedAt: at(40),
    });
  });

  it('begins with an absence that counts, and with no other', () => {
    const first = { asked: 1, lastAskedAt: at(40) };
    expect(progressAfter({ asked: 0 }, { askedAt: at(40), kind: 'absent' }, true)).toEqual({
      ...first,
      firstAbsentAt: at(40),
    });
    expect(progressAfter({ asked: 0 }, { askedAt: at(40), kind: 'absent' }, false)).toEqual(first);
    expect(progressAfter({ asked: 0 }, { askedAt: at(40), kind: 'inconclusive' }, true)).toEqual(first);
  });

  it('takes no absence for the first that was asked for before the newest look-up', () => {
    const found: LookupProgress = { asked: 1, lastAskedAt: at(130) };
    expect(progressAfter(found, { askedAt: at(129), kind: 'absent' }, true)).toEqual({
      asked: 2,
      lastAskedAt: at(130),
    });
    expect(progressAfter(found, { askedAt: at(130), kind: 'absent' }, true)).toMatchObject({ firstAbsentAt: at(130) });
  });
});

describe('the stored progress of a send', () => {
  const send = { attemptedAt: at(60) };

  it('counts when its last look-up was asked between the send and now', () => {
    expect(progressOfSend(before, send, at(100))).toBe(before);
    expect(progressOfSend(before, { attemptedAt: at(100) }, at(130))).toBe(before);
    expect(progressOfSend(undefined, send, at(100))).toEqual({ asked: 0 });
  });

  it('counts from the answer on when the clock was set back during the send', () => {
    const send = { attemptedAt: at(600), resolvedAt: at(15) };
    expect(progressOfSend(before, send, at(130))).toBe(before);
    expect(progressOfSend(before, { ...send, resolvedAt: at(101) }, at(130))).toEqual({ asked: 0 });
  });

  it('keeps the pauses between look-ups, and no absence, of a send whose instants are ahead of the clock', () => {
    const ahead = { attemptedAt: at(10_800), resolvedAt: at(10_801) };
    expect(progressOfSend(before, ahead, at(130))).toEqual({ asked: 2, lastAskedAt: at(100) });
    expect(progressOfSend(before, ahead, at(10_800))).toEqual({ asked: 0 });
  });

  it('leaves the pauses between look-ups at every moment after the clock was set back', () => {
    const send: Send<'unknown'> = {
      attempt: 1,
      attemptedAt: at(300),
      deadlineAt: at(335),
      resolution: 'unknown',
      codes: [],
      answeredAt: at(330),
      resolvedAt: at(330),
    };
    const window = { sendableFrom: at(0), mayStartUntil: at(7_200), endsAt: at(7_200) };
    const looked: number[] = [];
    let stored: LookupProgress | undefined;
    for (let seconds = 30; seconds < 900; seconds += 1) {
      const now = at(seconds);
      const progress = progressOfSend(stored, send, now);
      const step = stepAfterSend([send], send, { ...window, now, limits, progress });
      if (step.do !== 'look_up') continue;
      looked.push(seconds);
      stored = progressAfter(progress, { askedAt: now, kind: 'inconclusive' }, false);
    }
    const pauses = looked.slice(1).map((seconds, index) => seconds - (looked[index] ?? 0));
    expect(looked.length).toBeGreaterThan(3);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(30);
  });

  it('begins again when it is of a send that the log has lost, or was asked by a clock that was ahead', () => {
    expect(progressOfSend(before, { attemptedAt: at(101) }, at(130))).toEqual({ asked: 0 });
    expect(progressOfSend(before, send, at(99))).toEqual({ asked: 0 });
  });
});

describe('two absences prove', () => {
  const send = { deadlineAt: at(35) };
  const noGap = { ...limits, lookupIntervalsSeconds: [30, 0] };

  it.each([
    ['a gap apart', at(35), at(95), limits, true],
    ['less than a gap apart', at(35), at(94), limits, false],
    ['the first before the deadline', at(34), at(95), limits, false],
    ['one instant, without a gap', at(40), at(40), noGap, false],
    ['two instants, without a gap', at(40), at(41), noGap, true],
  ])('%s: %s to %s', (_what, first, second, given, isProof) => {
    expect(provesAbsence(send, first, second, given)).toBe(isProof);
  });

  it('only when there are two', () => {
    expect(provesAbsence(send, undefined, at(95), limits)).toBe(false);
  });
});
