import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** The facts of a run that the judge needs; `run.json`. Instants are ISO 8601 in UTC. */
export type RunFacts = {
  seed: number;
  minutes: number;
  /** The other options that the draws depend on; older runs did not keep them. */
  options?: { kills: number; invoices: number; clients: number; engines: string };
  /** With their versions. */
  engines: string;
  commit: string;
  node: string;
  beganAt: string;
  endedAt: string;
  /** False: Ctrl-C or a fault of the run itself broke it off. */
  isWhole: boolean;
  /** Company and mode of each label that `http.ndjson` uses. */
  tenants: Readonly<Record<string, Tenant>>;
  /** Texts that are personal and must be sealed wherever the service stores them. */
  personal: readonly string[];
  /** What the run could not do on this machine, with the reason. */
  notMade: readonly string[];
};

export type Tenant = { cnpj: string; mode: 'test' | 'live' };

/** One request of a client and what came back; a line of `http.ndjson`. `intent`: the wish that all its repeats share. */
export type Exchange = {
  tenant: string;
  intent: string;
  method: string;
  path: string;
  idempotencyKey?: string;
  body?: Readonly<Record<string, unknown>>;
  began: string;
  ended: string;
  status?: number;
  answer?: Readonly<Record<string, unknown>>;
  /** Why there is no answer. */
  lost?: string;
};

/** A note as the authorizer's control port shows it. */
export type LedgerNote = {
  access_key: string;
  dps_id: string;
  cnpj: string;
  amount_in_cents: number;
  authorized_at: string;
  canceled_at?: string;
  environment: 'test' | 'live';
};

/** A call that the authorizer received, by its own clock. */
export type ReceivedCall = {
  time: string;
  method: string;
  path: string;
  environment?: 'test' | 'live';
  caller?: string;
  /** Id of the DPS of a send that the authorizer could read. */
  dps_id?: string;
  outcome: number | string;
  codes?: readonly string[];
};

/** A line of the export of the event log. */
export type LoggedEvent = {
  position: string;
  stream: string;
  revision: number;
  type: string;
  id: string;
  at: string;
  data: Readonly<Record<string, unknown>>;
  meta: Readonly<Record<string, string>>;
};

type ExportManifest = {
  file: string;
  sha256: string;
  events: number;
  streams: readonly { stream: string; revision: number; hash: string; events: number }[];
};

/** What was done to the run from outside; `authorizer_clock` carries the offset of the authorizer's clock in seconds. */
export type Mishap = { kind: string; at: string; until: string; offsetSeconds?: number; detail?: string };

/** An invoice body as the service replays it at an instant, and as a client had polled it then. */
export type Replay = { id: string; at: string; replayed: unknown; polled: unknown };

/** A document as a file of the folder. `kind` is its root element. `of`: the mode, and the access key of its note or the id of its DPS. */
export type DocumentFile = {
  file: string;
  kind: 'DPS' | 'NFSe' | 'pedRegEvento' | 'evento';
  of: string;
  from: 'authorizer' | 'service' | 'log';
};

/** The rows of the read models, one line each: as they were read, and after all had been built again from the log. */
export type Rows = Readonly<Record<string, readonly string[]>>;

/** Everything that a run leaves behind. The judge reads nothing else. */
export type Raw = {
  folder: string;
  run: RunFacts;
  http: readonly Exchange[];
  ledger: readonly LedgerNote[];
  calls: readonly ReceivedCall[];
  events: readonly LoggedEvent[];
  manifest: ExportManifest;
  exportSha256: string;
  mishaps: readonly Mishap[];
  replays: readonly Replay[];
  documents: readonly DocumentFile[];
  rows: { live: Rows; rebuilt: Rows };
  /** Lines that the service wrote to its log. */
  serviceLog: string;
  /** Ends of the service that nobody caused, and commands of the end that failed. */
  troubles: readonly string[];
};

export const RAW_FILES = {
  run: 'run.json',
  http: 'http.ndjson',
  ledger: 'ledger.json',
  calls: 'calls.ndjson',
  events: 'events.ndjson',
  manifest: 'events.ndjson.manifest.json',
  mishaps: 'mishaps.ndjson',
  faults: 'faults.ndjson',
  replays: 'replays.ndjson',
  documents: 'documents.ndjson',
  rows: 'rows.json',
  serviceLog: 'service.log.gz',
  troubles: 'troubles.ndjson',
} as const;

/** Reads a folder of raw data. Throws when a file is missing or cannot be read. */
export const readRaw = async (folder: string, sha256: (bytes: Buffer) => string): Promise<Raw> => {
  const bytes = (name: string): Promise<Buffer> => readFile(join(folder, name));
  const json = async <T>(name: string): Promise<T> => JSON.parse((await bytes(name)).toString('utf8')) as T;
  const lines = async <T>(name: string): Promise<readonly T[]> =>
    (await bytes(name))
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  return {
    folder,
    run: await json<RunFacts>(RAW_FILES.run),
    http: await lines<Exchange>(RAW_FILES.http),
    ledger: await json<readonly LedgerNote[]>(RAW_FILES.ledger),
    calls: await lines<ReceivedCall>(RAW_FILES.calls),
    events: await lines<LoggedEvent>(RAW_FILES.events),
    manifest: await json<ExportManifest>(RAW_FILES.manifest),
    exportSha256: sha256(await bytes(RAW_FILES.events)),
    mishaps: await lines<Mishap>(RAW_FILES.mishaps),
    replays: await lines<Replay>(RAW_FILES.replays),
    documents: await lines<DocumentFile>(RAW_FILES.documents),
    rows: await json<Raw['rows']>(RAW_FILES.rows),
    serviceLog: gunzipSync(await bytes(RAW_FILES.serviceLog)).toString('utf8'),
    troubles: await lines<string>(RAW_FILES.troubles),
  };
};
