import { describe, expect, it } from 'vitest';
import type { Mode } from '../../src/domain/common/ids.js';
import { runBreakerProber } from '../../src/workers/breaker-prober.js';

describe('the prober of the breakers', () => {
  it('asks the breaker of each mode again and again, also beside a look-up that hangs and after a fault', async () => {
    const ended = new AbortController();
    const asked: Record<Mode, number> = { live: 0, test: 0 };
    const faults: unknown[] = [];
    const probeWithoutSend = async (mode: Mode): Promise<void> => {
      asked[mode] += 1;
      if (asked.live >= 3 && asked.test >= 3) ended.abort();
      if (mode === 'live') await new Promise(() => undefined);
      throw new Error('away');
    };
    await runBreakerProber({
      breaker: { probeWithoutSend },
      modes: ['live', 'test'],
      paceMs: 1,
      signal: ended.signal,
      onFault: (error) => faults.push(error),
    });
    expect(asked.live).toBeGreaterThanOrEqual(3);
    expect(faults.length).toBeGreaterThanOrEqual(2);
  });

  it('asks nothing once it is stopped', async () => {
    let asked = 0;
    const probeWithoutSend = async (): Promise<void> => {
      asked += 1;
    };
    const signal = AbortSignal.abort();
    await runBreakerProber({ breaker: { probeWithoutSend }, modes: ['live'], paceMs: 1, signal, onFault: () => 0 });
    expect(asked).toBe(0);
  });
});
