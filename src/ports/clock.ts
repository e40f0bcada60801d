import type { Instant } from '../domain/shared/time.js';

/** The only source of time. Reads the system's clock anew each call; no SQL `now()`, no cached origin (design section 7). */
export type Clock = { now(): Instant };
