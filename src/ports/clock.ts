import type { Instant } from '../domain/common/time.js';

/** The only source of time. Each call reads the system's clock; SQL `now()` and cached origins decide nothing. */
export type Clock = { now(): Instant };
