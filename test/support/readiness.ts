import type { Readiness } from '../../src/runtime/operations/readiness.js';
import { eventually } from './eventually.js';

type Probe = { status: number; body: Readiness };

/** Milliseconds after which a probe of an orchestrator counts as failed. */
export const PROBE_MS = 15_000;

export const readiness = async (opsUrl: string): Promise<Probe> => {
  const response = await fetch(`${opsUrl}/health/ready`, { signal: AbortSignal.timeout(PROBE_MS) });
  return { status: response.status, body: (await response.json()) as Readiness };
};

/** Waits, with a bound, for a reason that the service gives for not being ready. */
export const becomesNotReady = (opsUrl: string, reason: RegExp): Promise<Probe> =>
  eventually(
    () => readiness(opsUrl),
    ({ status, body }) => status === 503 && body.reasons.some((one) => reason.test(one)),
  );

export const becomesReady = (opsUrl: string): Promise<Probe> =>
  eventually(
    () => readiness(opsUrl),
    ({ status }) => status === 200,
  );
