import { instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';

export const systemClock: Clock = { now: () => instant(Date.now()) };
