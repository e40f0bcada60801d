/** Below this a body needs no share: as many fit into memory as connections do. */
export const FREE_BYTES = 64 * 1024;

/** What one body takes of the budget. */
export type BodyShare = {
  /** Raises the share to `size` bytes altogether; false when the budget has no room for them. */
  cover(size: number): boolean;
  release(): void;
};

/** Bounds the bytes of all large bodies that are in memory at the same time. */
export const createBodyBudget = (limitBytes: number): { share(): BodyShare } => {
  let taken = 0;
  return {
    share: () => {
      let own = 0;
      return {
        cover: (size) => {
          // So put that a declared length that is no number takes nothing either.
          if (!(size > FREE_BYTES && size > own)) return true;
          const more = size - own;
          if (taken + more > limitBytes) return false;
          taken += more;
          own = size;
          return true;
        },
        release: () => {
          taken -= own;
          own = 0;
        },
      };
    },
  };
};
