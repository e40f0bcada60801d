import type { Mode } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { Timers } from './timers.js';

/** The only source of the authorizer's time. */
export type Clock = { now(): Instant };

/** The official tables that the rules ask; handed in, so that the simulator reads no file but its own folder. */
export type Tables = {
  /** cTribNac, six digits. */
  serviceCode(code: string): { description: string } | undefined;
  /** NBS 2.0 leaf code, nine digits. */
  isNbs(code: string): boolean;
  /** IBGE code, seven digits. */
  municipality(ibge: string): { name: string; uf: string } | undefined;
  /** ISO 3166-1 alpha-2 of the national table, in which Brazil is not. */
  isForeignCountry(code: string): boolean;
};

export type SimulatorOptions = {
  /** Keeps CA, server certificate, ledgers and registries; made at the first start. */
  folder: string;
  /** 0 picks a free port. */
  port: number;
  controlPort: number;
  /** Of the mTLS port, default `127.0.0.1`; the control port is always loopback. */
  host?: string;
  /** Names that the server certificate carries beside `localhost` and the loopback addresses. */
  serverNames?: readonly string[];
  /** Ask for the client's certificate as Sefin does, by TLS 1.2 renegotiation after the request; default: in the handshake. */
  renegotiate?: boolean;
  clock: Clock;
  /** The delays of faults; default: real ones. A test whose clock stands still moves them with it. */
  timers?: Timers;
  tables: Tables;
  /** How long notes of the test environment are kept, in seconds; default: eight days. Those of production are kept for ever. */
  testNoteSeconds?: number;
  /** PEM bundle of further authorities whose client certificates are accepted. */
  extraClientCaPem?: string;
  log?: (line: object) => void;
};

export type Simulator = {
  /** Base URL of each environment, without a trailing slash. */
  urls: Record<Mode, string>;
  /** Base URL of the parameters API of each environment. */
  parametersUrls: Record<Mode, string>;
  controlUrl: string;
  /** Trust root of the server certificate. */
  caPem: string;
  close(): Promise<void>;
};
