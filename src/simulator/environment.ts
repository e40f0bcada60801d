import type { KeyAndCertificate } from '../certificates/issue-certificate.js';
import type { Mode } from '../domain/common/ids.js';
import type { AuthorizerClock } from './clock.js';
import type { Tables } from './options.js';
import type { SignerCheck } from './signer.js';
import type { Calls, Hidden } from './state/calls.js';
import type { Faults } from './state/faults.js';
import type { Ledger } from './state/ledger.js';
import type { Registry } from './state/registry.js';
import type { Timers } from './timers.js';

/** One of the two national environments, which share neither ledger nor numbering nor registries. */
export type Environment = {
  mode: Mode;
  tpAmb: '1' | '2';
  /** Prefix of every path, in the spelling of the Swagger. */
  basePath: string;
  /** `verAplic` of the documents that this environment signs. */
  verAplic: string;
  ledger: Ledger;
  registry: Registry;
};

/** The state that all calls of one simulator share. */
export type World = {
  environments: Record<Mode, Environment>;
  clock: AuthorizerClock;
  /** Takes only the spellings that every version of Sefin takes (`SimulatorOptions`). */
  strict: boolean;
  tables: Tables;
  /** Signs NFS-e and `evento`. */
  signer: KeyAndCertificate;
  /** Judges the certificates that sign DPS and event requests. */
  judgeSigner: SignerCheck;
  /** Makes a client certificate that this simulator accepts; `caPem` is the trust root of the simulator's server. */
  issueClient(request: { cnpj: string; name: string }): Promise<KeyAndCertificate & { caPem: string }>;
  faults: Faults;
  hidden: Hidden;
  calls: Calls;
  timers: Timers;
};

/** `tpAmb`, path and `verAplic` per mode (docs/national-system.md#environments). */
export const ENVIRONMENT_FACTS = {
  live: { tpAmb: '1', basePath: '/live/SefinNacional', verAplic: 'SefinNacional_1.6.0' },
  test: { tpAmb: '2', basePath: '/test/SefinNacional', verAplic: 'SefinNac_Pre_1.4.0' },
} as const satisfies Record<Mode, Pick<Environment, 'tpAmb' | 'basePath' | 'verAplic'>>;

export const otherMode = (mode: Mode): Mode => (mode === 'live' ? 'test' : 'live');
