import { createDoubleLog, type DoubleLog, type Written } from './log.js';

type Append = Parameters<DoubleLog['append']>;

type Waiting = { append: Append; show(written: Written): void };

/**
 * The log of a leader. While appends are held, it has written them and does not show them, because its followers have not confirmed them or its index
 * is late. It finds conflicts against everything that it has written, and gives no answer to an append that it has written already.
 */
export const createLeaderLog = (): { log: DoubleLog; hold(): void; confirm(): void } => {
  const shown = createDoubleLog();
  let isHeld = false;
  let waiting: Waiting[] = [];

  const lastWritten = (stream: string): bigint => {
    const content = shown.read(stream);
    const last = content.kind === 'found' ? (content.events.at(-1)?.revision ?? -1n) : -1n;
    const held = waiting.filter(({ append: [of] }) => of === stream);
    return held.reduce((revision, { append: [, , events] }) => revision + BigInt(events.length), last);
  };

  return {
    log: {
      ...shown,
      append: (...append) => {
        const [stream, expected, events] = append;
        if (!isHeld) return shown.append(...append);
        const isRepeated = waiting.some(({ append: [of, , held] }) => of === stream && held[0]?.id === events[0]?.id);
        if (isRepeated) return { kind: 'unconfirmed', shown: new Promise(() => undefined) };
        const last = lastWritten(stream);
        const wanted = expected === 'no_stream' ? -1n : expected;
        if (typeof wanted === 'bigint' && wanted !== last)
          return { kind: 'conflict', current: last < 0n ? null : last };
        return { kind: 'unconfirmed', shown: new Promise((show) => waiting.push({ append, show })) };
      },
    },
    hold: () => {
      isHeld = true;
    },
    confirm: () => {
      isHeld = false;
      for (const { append, show } of waiting) show(shown.append(...append));
      waiting = [];
    },
  };
};
