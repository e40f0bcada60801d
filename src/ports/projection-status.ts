import type { LogPosition } from './event-log.js';

/** What operators see of a projection. */
export type ProjectionStatus = {
  name: string;
  /** Version of the live rows; the program's own may differ. */
  version: number;
  generation: number;
  position: LogPosition | null;
  /** Age in seconds of the oldest event that the live rows do not hold; 0 at the head of the log. */
  lagSeconds: number;
  rebuilding?: BuildingStatus;
  /** The generation that a rollback would return to. */
  previous?: { version: number; generation: number };
};

/** `progress` is between 0 and 1. `running: false`: the build was interrupted and the next rebuild continues it. */
export type BuildingStatus = {
  version: number;
  generation: number;
  position: LogPosition | null;
  progress: number;
  running: boolean;
};
