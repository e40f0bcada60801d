import type { Classifications } from '../domain/common/classification.js';
import type { Mode } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Timers } from './timers.js';

/** Thrown when a running simulator holds the folder. With two ledgers a look-up could report a note as absent that the other one holds. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** Thrown at the start for a damaged line. */
export class LedgerDamaged extends Error {
  override readonly name = 'LedgerDamaged';
}

/** The only source of the authorizer's time. */
export type Clock = { now(): Instant };

/** The official tables that the rules need. The caller passes them, so that the simulator reads files of its folder only. */
export type Tables = {
  /** cTribNac, six digits. */
  serviceCode(code: string): { description: string } | undefined;
  /** NBS 2.0 leaf code, nine digits. */
  nbs(code: string): { description: string } | undefined;
  /** IBGE code, seven digits. */
  municipality(ibge: string): { name: string; uf: string } | undefined;
  /** ISO 3166-1 alpha-2 code of the national table, which does not hold Brazil. */
  isForeignCountry(code: string): boolean;
  /** cClassTrib, six digits. */
  classification: Classifications;
};

export type SimulatorOptions = {
  /** Holds authority, server certificate, ledgers and registries; created at the first start. */
  folder: string;
  /** 0 picks a free port. */
  port: number;
  controlPort: number;
  /** Address of the mutual TLS port, default `127.0.0.1`. The control port is always on loopback. */
  host?: string;
  /** Further names in the server certificate, beside `localhost` and the loopback addresses. */
  serverNames?: readonly string[];
  /** True: ask for the client's certificate after the request by TLS 1.2 renegotiation, as Sefin does. Default: in the handshake. */
  renegotiate?: boolean;
  /** True: take only the spellings that every version of Sefin takes, in the XML declaration and in the path. Default: all that were seen accepted. */
  strict?: boolean;
  clock: Clock;
  /** The delays of faults; default: real time. A test with a fixed clock passes its own timers. */
  timers?: Timers;
  tables: Tables;
  /** Seconds for which notes of the test environment are kept; default: eight days. Notes of production are kept permanently. */
  testNoteSeconds?: number;
  /** Further authorities whose client certificates are accepted; each text in PEM. */
  clientAuthoritiesPem?: readonly string[];
  log?: (line: object) => void;
  /** Takes a fault that an operator must see, once for each cause. */
  warn?: (line: object) => void;
};

export type Simulator = {
  /** Base URL of each environment, without a trailing slash. */
  urls: Record<Mode, string>;
  controlUrl: string;
  /** Trust root of the server certificate. */
  caPem: string;
  close(): Promise<void>;
};
