import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { demoCertificate } from '../../../src/runtime/operator/demo-certificate.js';
import { issueClientCertificate } from '../../../src/simulator/authority.js';
import type { FaultKind } from '../../../src/simulator/state/faults.js';
import { giveIdentity } from '../fixture/simulator-identity.js';
import { type LedgerNote, readLedger } from './ledger.js';
import { startProgram } from './processes.js';

/** A fault as the control port takes it; the amount selects its note. */
export type FaultOrder = {
  on: 'issue' | 'lookup' | 'event' | 'event_lookup';
  kind: FaultKind;
  times?: number;
  delay_ms?: number;
  code?: string;
};

export type ExternalSimulator = {
  url: string;
  caFile: string;
  controlUrl: string;
  order(fault: FaultOrder, amountInCents: number): Promise<void>;
  /** All, or those of this amount. */
  notes(amountInCents?: number): Promise<readonly LedgerNote[]>;
  /** The demo company's, which this simulator accepts. */
  certificate: ReturnType<typeof demoCertificate>;
  close(): Promise<void>;
};

/** The simulator in a separate process, which survives every crash of the service. */
export const startExternalSimulator = async (): Promise<ExternalSimulator> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-crash-sim-'));
  await giveIdentity(join(home, 'simulator'));
  const { ready, kill } = await startProgram<{ simulator: { test: string }; simulator_control_url: string }>(
    ['src/main.ts', 'simulator'],
    { DATA_DIR: home },
  );
  const folder = join(home, 'simulator');
  const { cnpj, legalName: name } = demoCompany();
  const issued = await issueClientCertificate(folder, { cnpj, name, clock: systemClock });
  const caFile = join(home, 'ca.pem');
  await writeFile(caFile, issued.caPem);
  const controlUrl = ready.simulator_control_url;
  return {
    url: ready.simulator.test,
    caFile,
    controlUrl,
    order: (fault, amountInCents) => orderFault(controlUrl, fault, amountInCents),
    notes: async (amountInCents) =>
      (await readLedger(controlUrl)).filter(
        ({ amount_in_cents }) => amountInCents === undefined || amount_in_cents === amountInCents,
      ),
    certificate: demoCertificate(issued),
    close: async () => {
      await kill();
      await rm(home, { recursive: true, force: true });
    },
  };
};

/** At the control port of any simulator, also of one inside the service. */
export const orderFault = async (controlUrl: string, fault: FaultOrder, amountInCents: number): Promise<void> => {
  const body = JSON.stringify({ ...fault, match: { amount_in_cents: amountInCents } });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${controlUrl}/_control/faults`, { method: 'POST', headers, body });
  if (response.status !== 201) throw new Error(`the fault was not taken: ${await response.text()}`);
};
