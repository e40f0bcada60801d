import type { Instant } from '../domain/common/time.js';

/** The only source of instants. Waits use the monotonic clock. Each call reads the system's clock; SQL `now()` and cached origins decide nothing. */
export type Clock = { now(): Instant };
