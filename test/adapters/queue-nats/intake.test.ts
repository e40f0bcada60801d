import { describe, expect, it } from 'vitest';
import { createIntake } from '../../../src/adapters/queue-nats/intake.js';
import type { WorkMessage } from '../../../src/adapters/queue-nats/message.js';
import { itemOf } from '../../support/harness/nats-queue.js';

const nothing = (): void => {};
const message = (sequence: number, deliveries = 1, storedAt = `at ${sequence}`): WorkMessage => ({
  sequence,
  storedAt,
  deliveries,
  subject: '',
  payload: '',
  ack: nothing,
  retry: nothing,
  giveBack: nothing,
  working: nothing,
  terminate: nothing,
});

describe('what a process holds of the queue', () => {
  it('gives every fourth place to test work, and the others to live work', () => {
    const intake = createIntake(1);
    for (let index = 0; index < 12; index += 1) {
      intake.add({ item: itemOf(`test ${index}`), message: message(100 + index) });
      intake.add({ item: itemOf(`live ${index}`), message: message(index) });
    }
    const lanes = Array.from({ length: 8 }, () => {
      const held = intake.take();
      if (held === undefined) throw new Error('nothing to take');
      intake.finish(held.item, 'keep');
      return held.item.stream.slice(4, 8);
    });
    expect(lanes).toEqual(['Live', 'Live', 'Live', 'Test', 'Live', 'Live', 'Live', 'Test']);
  });

  it('answers through the newest delivery of what it handles, and handles that no second time', () => {
    const intake = createIntake(2);
    const item = itemOf('a');
    intake.add({ item, message: message(1) });
    intake.take();
    intake.add({ item, message: message(1, 2) });
    expect(intake.messageOf(item)?.deliveries).toBe(2);
    intake.finish(item, 'keep');
    expect(intake.take()).toBeUndefined();
  });

  it('handles a message that has the sequence of the handled one and came into a work stream that was made again', () => {
    const intake = createIntake(2);
    const item = itemOf('a');
    intake.add({ item, message: message(1, 1, 'before') });
    intake.take();
    intake.add({ item, message: message(1, 1, 'after') });
    expect(intake.messageOf(item)?.storedAt).toBe('before');
    intake.finish(item, 'keep');
    expect(intake.take()?.message.storedAt).toBe('after');
  });

  it('keeps alive all that it holds, and gives back all but what is handled', () => {
    const intake = createIntake(1);
    const handled = itemOf('a');
    intake.add({ item: handled, message: message(1) });
    intake.take();
    intake.add({ item: handled, message: message(2) });
    intake.add({ item: itemOf('b'), message: message(3) });
    intake.add({ item: itemOf('test c'), message: message(4) });
    const sequencesOf = (messages: readonly WorkMessage[]) => messages.map(({ sequence }) => sequence).sort();
    expect(sequencesOf(intake.held())).toEqual([1, 2, 3, 4]);
    expect(sequencesOf(intake.release())).toEqual([2, 3, 4]);
    expect(sequencesOf(intake.held())).toEqual([1]);
    intake.finish(handled, 'keep');
    expect(intake.take()).toBeUndefined();
  });
});
