/** Parts of the time, each measured by a timer. */
const PARTS = 10;

export type Silence = {
  heard(): void;
  end(): void;
};

/**
 * Calls `onSilent` once nothing was heard for `ms`. A part of the time counts once however late its timer is, and what waits in a socket is taken
 * between two parts. So a process that was stopped, or had no processor, does not take its own pause for the silence of a server.
 */
export const watchSilence = (ms: number, onSilent: () => void): Silence => {
  let parts = 0;
  const timer = setInterval(() => {
    parts += 1;
    if (parts < PARTS) return;
    clearInterval(timer);
    onSilent();
  }, ms / PARTS);
  return {
    heard: () => {
      parts = 0;
    },
    end: () => clearInterval(timer),
  };
};
