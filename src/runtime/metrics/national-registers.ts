import { Counter, type Registry } from 'prom-client';
import type { LookResult } from '../../app/reconciliation/deps.js';
import type { Mode } from '../../domain/shared/ids.js';
import { modes } from '../authorizers.js';

const LOOK_RESULTS: Record<LookResult, true> = {
  agrees: true,
  differs: true,
  absent_once: true,
  inconclusive: true,
  left_alone: true,
};

export type NationalRegisterMetrics = {
  /** One question to the municipal parameters API. */
  parametersAsked(mode: Mode, outcome: 'told' | 'no_proof'): void;
  /** One look of the reconciliation at an invoice. */
  reconciled(mode: Mode, result: LookResult): void;
};

/** What is asked of the national registers beside issuing; every series starts at 0. */
export const nationalRegisterMetrics = (registry: Registry): NationalRegisterMetrics => {
  const registers = [registry];
  const asked = new Counter({
    name: 'nfse_municipal_parameters_calls_total',
    help: 'Questions to the municipal parameters API; no_proof: its answer said nothing, and what is kept stays.',
    labelNames: ['mode', 'outcome'],
    registers,
  });
  const looks = new Counter({
    name: 'nfse_reconciliation_looks_total',
    help: 'Invoices compared with what the authorizer holds, by result.',
    labelNames: ['mode', 'result'],
    registers,
  });
  for (const mode of modes) {
    for (const outcome of ['told', 'no_proof']) asked.inc({ mode, outcome }, 0);
    for (const result of Object.keys(LOOK_RESULTS)) looks.inc({ mode, result }, 0);
  }
  return {
    parametersAsked: (mode, outcome) => asked.inc({ mode, outcome }),
    reconciled: (mode, result) => looks.inc({ mode, result }),
  };
};
