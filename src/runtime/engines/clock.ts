import { instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';

export const systemClock: Clock = { now: () => instant(Date.now()) };
