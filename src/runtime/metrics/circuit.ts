import { Gauge, type Registry } from 'prom-client';
import type { CircuitChange } from '../../app/issuer/send-gate.js';
import { modes } from '../authorizers.js';

const STATES: Record<CircuitChange['to'], true> = { closed: true, open: true, half_open: true };

/** The breaker of each environment in this process: the series of its state is 1, the others are 0. */
export const circuitGauge = (registry: Registry): ((change: Pick<CircuitChange, 'mode' | 'to'>) => void) => {
  const gauge = new Gauge({
    name: 'nfse_authorizer_circuit',
    help: 'Whether this process sends to the authorizer (closed), pauses (open) or tries one (half_open): 1 for the state it is in.',
    labelNames: ['mode', 'state'],
    registers: [registry],
  });
  const show = ({ mode, to }: Pick<CircuitChange, 'mode' | 'to'>): void => {
    for (const state of Object.keys(STATES)) gauge.set({ mode, state }, state === to ? 1 : 0);
  };
  for (const mode of modes) show({ mode, to: 'closed' });
  return show;
};
