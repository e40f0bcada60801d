import type pg from 'pg';
import { allProjections } from '../../../projections/registry.js';
import { readGuardReadiness } from '../../adapters/guards-postgres/guards-record.js';
import { guardsOfAnotherLog, heldPositions, isIssuingPaused } from '../../adapters/guards-postgres/incomplete-log.js';
import { createMonitoringReads, type MonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import {
  DIFFERENCE,
  NOTICE_SECONDS,
  type StoredNotice,
  type StoredNotices,
} from '../../adapters/read-model-postgres/stored-notices.js';
import { databasePlace } from '../../adapters/sql/address.js';
import { excessRights } from '../../adapters/sql/roles.js';
import { adviceForStrayLines, adviceWithoutCopy } from '../../adapters/vault/master-key.js';
import { isPlaceOf } from '../../app/event-store/walk-log.js';
import { createLag, LATE_SECONDS, type LagReader } from '../../app/read/lag.js';
import { putCertificateCommand } from '../../cli/commands/certificate.js';
import type { Check } from '../../cli/session.js';
import { modes, parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, isBefore } from '../../domain/common/time.js';
import { ageSeconds, isWithoutEmitter, STALE_SECONDS } from '../../domain/municipality/parameters.js';
import { ageText } from '../../lib/age-text.js';
import { counted } from '../../lib/counted.js';
import type { Clock } from '../../ports/clock.js';
import type { DistributionProgressStore } from '../../ports/distribution.js';
import type { LogPosition } from '../../ports/event-log.js';
import type { ExportSigner } from '../../ports/export-signer.js';
import type { MasterKeyGeneration } from '../../ports/master-keys.js';
import type { ParametersCache, ParametersEntry } from '../../ports/municipal-parameters.js';
import { canRead, liveGeneration } from '../../projector/checkpoints.js';
import { otherLogText } from '../../projector/projector.js';
import { shippedCatalogue } from '../../tables/catalogue.js';
import { type EngineAddresses, unprotectedConnections } from '../config/checks.js';
import { type Config, roles } from '../config/config.js';
import { type RolesHeld, unusedDatabase } from '../engines/database.js';
import type { Engines } from '../engines/engines.js';
import { pauseText, RECONCILE } from '../engines/pause-text.js';
import { clockCheckOf } from './clock-offset.js';

/** A log and guards in one database lose their end together, so only a recorded pause tells of that. Guards beside another log are compared. */
export const guardsChecks = async ({ pool, log }: Engines, { eventStoreUrl }: Config): Promise<readonly Check[]> => {
  if (eventStoreUrl === undefined) {
    const paused = await isIssuingPaused(pool, await log.identity());
    const detail = paused ? pauseText(await log.head(), null) : '';
    return paused ? [{ name: 'guards', ok: false, detail, cure: 'nfse doctor --reconcile' }] : [];
  }
  const identity = await log.identity();
  const other = await guardsOfAnotherLog(pool, identity);
  if (other !== undefined) {
    const detail = `the guards were made from log ${other}, but ${otherLogText(identity)}`;
    return [{ name: 'guards', ok: false, detail, cure: 'docs/operations/lost-database.md' }];
  }
  const look = await readGuardReadiness(pool, identity);
  const [head, isOfThisLog] = await headAndPlaces({ pool, log });
  const ok = !look.logWasIncomplete && isOfThisLog;
  const detail = ok
    ? `${look.guards === null ? 'not yet compared with the log' : `complete up to ${look.guards}`}; what is missing is rebuilt at the start`
    : pauseText(head, look.furthest);
  return [{ name: 'guards', ok, detail, cure: ok ? undefined : RECONCILE }];
};

/** The head of the log, and whether every position that the database was made from is a place of this log. */
export const headAndPlaces = async ({
  pool,
  log,
}: Pick<Engines, 'pool' | 'log'>): Promise<readonly [LogPosition | null, boolean]> => {
  // The database is read first. The log only grows, so a later head is never before what the database was made from.
  const held = await heldPositions(pool, await log.identity());
  const head = await log.head();
  const places = await Promise.all(held.map((position) => isPlaceOf(log, head, position)));
  return [head, places.every((isPlace) => isPlace)];
};

/** Whether database, log and read models are available, and how far each read model lags. */
export const engineChecks = async (
  { pool, log }: Engines,
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'limits'>,
  clock: Clock,
): Promise<readonly Check[]> => {
  const ahead = await createMonitoringReads(pool).clockOffset(clock);
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const checks: Check[] = [
    { name: 'database', ok: true, detail: `PostgreSQL ${rows[0]?.server_version ?? 'unknown'} ${placeOf(config)}` },
    clockCheckOf('clock database', "the database server's", -ahead, config.limits.queuedSeconds),
    { name: 'event log', ok: true, detail: `identity ${await log.identity()}, head ${(await log.head()) ?? 'empty'}` },
  ];
  for (const { projection, lag, unreadable } of await projectionLags({ pool, log }, clock)) {
    const name = `projection ${projection}`;
    if (lag === 'of another log') {
      checks.push({ name, ok: false, detail: 'made from events that the log does not have', cure: RECONCILE });
      continue;
    }
    if (unreadable !== undefined) {
      const { version, isOlder } = unreadable;
      const detail = `has rows of version ${version}, which this program cannot read`;
      checks.push({ name, ok: false, detail, cure: isOlder ? MAKE_AGAIN : NEWER_PROGRAM });
      continue;
    }
    const ok = lag < LATE_SECONDS;
    checks.push({ name, ok, detail: `${Math.round(lag)} s behind the log`, cure: ok ? undefined : CATCH_UP });
  }
  return checks;
};

/** No fault: a folder that a demo left is harmless. Invoices in the folder would be issued again when a client repeats them. */
export const unusedDatabaseChecks = (config: Pick<Config, 'databaseUrl' | 'dataDir'>): readonly Check[] => {
  const unused = unusedDatabase(config);
  return unused === undefined
    ? []
    : [{ name: 'embedded database', ok: true, detail: `${unused.detail}; ${unused.cure}`, cure: undefined }];
};

/**
 * A role that no process holds is a fault, unless no process runs at all, as before the first start. In DATA_DIR one process has all roles. A process
 * of an older version, as during an upgrade, may hold each role that no other process holds.
 */
export const rolesCheck = (held: RolesHeld, { databaseUrl }: Pick<Config, 'databaseUrl'>): Check => {
  const name = 'service';
  const isEmbedded = databaseUrl === undefined;
  if (held.roles.size === 0 && !held.older) {
    const detail = isEmbedded ? 'no service runs on DATA_DIR' : 'no process of the service uses this database';
    return { name, ok: true, detail, cure: isEmbedded ? 'npm start' : 'nfse serve' };
  }
  const missing = roles.filter((role) => !held.roles.has(role));
  if (held.older) {
    const detail =
      missing.length === 0
        ? 'each role is held by a process, and a process of an older version runs too'
        : `a process of an older version runs, which does not say whether it holds ${missing.join(', ')}`;
    return { name, ok: true, detail, cure: 'end the upgrade: docs/operations/upgrade.md' };
  }
  if (missing.length === 0) return { name, ok: true, detail: 'each role is held by a process' };
  const detail = `no process holds ${missing.join(', ')}`;
  const beside = missing.includes('api') ? 'PORT and OPS_PORT' : 'OPS_PORT';
  const cure = isEmbedded
    ? 'stop the service and start it with all roles: nfse serve'
    : `nfse serve --role ${missing} (beside another process on one machine: with its own ${beside})`;
  return { name, ok: false, detail, cure };
};

/** A command in a terminal without the service's variables looks at another database. */
const placeOf = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string =>
  databaseUrl === undefined ? `in ${dataDir}` : `at ${databasePlace(databaseUrl)}`;

const CATCH_UP =
  'start a process with the role projector (nfse serve); where one runs, its log says why (a projection halted, or a projection failed and is tried again)';

const MAKE_AGAIN =
  'start a process with the role projector (nfse serve), which makes the rows again; nfse projections status shows how far it is';

const NEWER_PROGRAM = 'run the command with the program of the newer version: docs/operations/upgrade.md';

type ProjectionLag = {
  projection: string;
  lag: number | 'of another log';
  /** Set where the live rows are of a version that this program cannot read. */
  unreadable: { version: number; isOlder: boolean } | undefined;
};

const projectionLags = async (
  { pool, log }: Pick<Engines, 'pool' | 'log'>,
  clock: Clock,
  lagOf = createLag(log, clock),
) => {
  const lags: ProjectionLag[] = [];
  for (const projection of allProjections) {
    const live = await liveGeneration(pool, projection.name);
    // The head is read after the checkpoint, which the projector may move on meanwhile.
    const isOfThis = await isPlaceOf(log, await log.head(), live.position);
    const lag = isOfThis ? await lagOf(projection.prefixes, live.position) : 'of another log';
    const { version } = live;
    const unreadable = canRead(projection, live) ? undefined : { version, isOlder: version < projection.version };
    lags.push({ projection: projection.name, lag, unreadable });
  }
  return lags;
};

/** The projections whose rows do not hold what the log says, as this program reads them. `lagOf`: of callers that ask repeatedly. */
export const projectionsBehind = async (
  engines: Pick<Engines, 'pool' | 'log'>,
  clock: Clock,
  lagOf?: LagReader,
): Promise<readonly string[]> =>
  (await projectionLags(engines, clock, lagOf))
    .filter(({ lag, unreadable }) => lag === 'of another log' || lag >= LATE_SECONDS || unreadable !== undefined)
    .map(({ projection }) => projection);

/** Never a fault, but an operator should review each shipped default before live mode uses it. */
export const catalogueCheck = async (readModel: Engines['readModel']): Promise<Check> => {
  const companies = await readModel.companies();
  const cnaes = new Set(companies.flatMap(({ registration }) => registration.activities.map(({ cnae }) => cnae)));
  const imported = await readModel.catalogLines([...cnaes]);
  const unreviewed = [...cnaes]
    .filter((cnae) => !imported.has(cnae))
    .flatMap((cnae) => shippedCatalogue.linesOf(cnae))
    .filter(({ serviceCode }) => serviceCode !== '');
  const detail = `${counted(unreviewed.length, 'shipped line')} of registered companies' activities not reviewed by an operator`;
  const cure = 'nfse catalog export > FILE.tsv, look at the lines, then nfse catalog import FILE.tsv';
  return { name: 'catalogue', ok: true, detail, cure: unreviewed.length === 0 ? undefined : cure };
};

/** The notices that are still reported, the latest first. */
export const recentNotices = async (
  notices: Pick<StoredNotices, 'all'>,
  clock: Clock,
): Promise<readonly StoredNotice[]> => {
  const since = addSeconds(clock.now(), -NOTICE_SECONDS);
  return (await notices.all()).filter(({ lastAt }) => !isBefore(lastAt, since));
};

/** Reports received documents that could not be relied on lately, and differences of the reconciliation; includes notices of every process. */
export const noticeChecks = async (notices: Pick<StoredNotices, 'all'>, clock: Clock): Promise<readonly Check[]> => {
  const fresh = await recentNotices(notices, clock);
  const [differing, doubtful] = [
    fresh.filter(({ notice }) => notice === DIFFERENCE),
    fresh.filter(({ notice }) => notice !== DIFFERENCE),
  ];
  const check = (name: string, found: readonly StoredNotice[], fine: string, alert: string): Check =>
    found.length === 0
      ? { name, ok: true, detail: fine }
      : {
          name,
          ok: false,
          detail: found.map(textOf).join('; '),
          cure: `docs/operations/monitoring.md, ${alert}`,
        };
  return [
    check('received documents', doubtful, 'each could be relied on for 7 days', 'NfseDocumentUnreliable'),
    check('reconciliation', differing, 'no difference was found for 7 days', 'NfseReconciliationDifference'),
  ];
};

const textOf = ({ notice, detail, seen, lastAt, lastStream }: StoredNotice): string => {
  const invoice = parseInvoiceStream(lastStream);
  const where = invoice === undefined ? lastStream : publicInvoiceId(invoice.invoiceId);
  return `${notice} (${detail}) ${counted(seen, 'time')}, last at ${lastAt} of ${where}`;
};

/** One line for each company whose certificate the authorizer refuses; its sends are held back (ADR 47). */
export const certificateRefusalChecks = async (
  watch: Pick<MonitoringReads, 'refusedCertificates'>,
): Promise<readonly Check[]> =>
  (await watch.refusedCertificates()).map(({ mode, companyId, reason, since, seen, lastAt }) => ({
    name: `certificate ${companyId} ${mode}`,
    ok: false,
    detail: `the authorizer refuses the certificate of CNPJ ${companyId} in ${mode} mode since ${since} (${reason}, ${counted(seen, 'answer')}, last at ${lastAt}): its invoices wait`,
    cure: putCertificateCommand(companyId),
  }));

/** Whether the service's database user lacks every right that the service never uses. */
export const rightsCheck = async (pool: pg.Pool): Promise<Check> => {
  const name = 'database rights';
  const excess = await excessRights(pool);
  if (excess.length === 0)
    return { name, ok: true, detail: 'the user may append to the log and neither change nor remove what is in it' };
  const cure = 'give the service a separate role: nfse setup database (docs/operations/postgresql.md#roles)';
  return { name, ok: false, detail: `the user has more than it needs: ${excess.join('; ')}`, cure };
};

/** Whether the stored convênios are fresh. One that was never answered is no fault, because unknown parameters demand nothing. */
export const parametersCheck = async (cache: Pick<ParametersCache, 'convenios'>, clock: Clock): Promise<Check> => {
  const convenios = await cache.convenios();
  const now = clock.now();
  const ages = convenios.flatMap(({ knownAt }) => (knownAt === undefined ? [] : [ageSeconds(knownAt, now)]));
  const oldest = Math.max(0, ...ages);
  const unanswered = convenios.filter(({ known }) => known === undefined);
  const without = convenios
    .filter(({ known }) => known !== undefined && isWithoutEmitter(known))
    .map(({ mode, ibge }) => `${ibge} (${mode})`);
  const ok = oldest <= STALE_SECONDS;
  const detail = [
    `${ages.length} convênios known, the oldest answer ${Math.floor(oldest / 3600)} h old`,
    ...(unanswered.length === 0 ? [] : [`${unanswered.length} never answered (${reasonsOf(unanswered)})`]),
    ...(without.length === 0 ? [] : [`no national emitter in ${without.join(', ')}: notes there are refused`]),
  ].join('; ');
  const cure = 'docs/operations/monitoring.md, NfseMunicipalParametersStale';
  return { name: 'municipal parameters', ok, detail, cure: ok ? undefined : cure };
};

/** A queue that was not read to its end for so long is named. */
const QUEUE_STALE_SECONDS = 2 * DAY_SECONDS;

/** How many times the age that is set an oldest reading has where the calls of a round, at their pace, take longer. A few calls late is no matter. */
const LATE_ROUND = 1.25;

/** Never a fault: the rounds of the reconciliation find a note that was canceled elsewhere too, only later. */
export const distributionCheck = async (
  store: Pick<DistributionProgressStore, 'all' | 'oldestReading'>,
  { everySeconds }: Config['distribution'],
  clock: Clock,
): Promise<Check> => {
  const name = 'distribution';
  if (everySeconds === 0) return { name, ok: true, detail: 'off: DISTRIBUTION_EVERY_S is 0' };
  const now = clock.now();
  const queues = (await Promise.all(modes.map((mode) => store.all(mode)))).flatMap((ofMode) => [...ofMode]);
  const late = queues.filter(
    ([, { endSeenAt, reason }]) =>
      reason !== undefined && (endSeenAt === undefined || ageSeconds(endSeenAt, now) > QUEUE_STALE_SECONDS),
  );
  const reasons = [...new Set(late.map(([, { reason }]) => reason))].sort().join(', ');
  const waiting = queues.reduce((sum, [, progress]) => sum + progress.waiting.length, 0);
  const [first] = late.map(([companyId]) => companyId);
  const oldest = await Promise.all(modes.map((mode) => store.oldestReading(mode)));
  // The queues of a mode without an address are never asked.
  const readings = oldest.flatMap(({ askedAt, neverAsked }) =>
    askedAt === undefined ? [] : [{ askedAt, neverAsked }],
  );
  const neverAsked = readings.reduce((sum, reading) => sum + reading.neverAsked, 0);
  const oldestSeconds = Math.max(0, ...readings.map(({ askedAt }) => ageSeconds(askedAt, now)));
  const detail = [
    `${counted(queues.length, 'queue')} of the ADN read`,
    ...(neverAsked === 0 ? [] : [`${neverAsked} not read yet`]),
    ...(oldestSeconds <= LATE_ROUND * everySeconds
      ? []
      : [`the oldest reading is ${ageText(oldestSeconds)} old, DISTRIBUTION_EVERY_S is ${ageText(everySeconds)}`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, 'invoice')} to be compared`]),
    ...(first === undefined
      ? []
      : [`${late.length} never read to the end, or not for two days, the first of CNPJ ${first} (${reasons})`]),
  ].join('; ');
  const cure = 'check the address (DISTRIBUTION_LIVE_URL, DISTRIBUTION_TEST_URL) and the certificate';
  return { name, ok: true, detail, cure: late.length === 0 ? undefined : cure };
};

const reasonsOf = (entries: readonly ParametersEntry[]): string =>
  [...new Set(entries.map(({ reason }) => reason ?? 'not asked'))].sort().join(', ');

/** Shows the key that auditors must get by another way than the exports. A key that does not open is counted and never shown as ours. */
export const exportKeyCheck = async (signer: Pick<ExportSigner, 'publicKeys' | 'unopened'>): Promise<Check> => {
  const name = 'export key';
  const [keys, unopened] = [await signer.publicKeys(), await signer.unopened()];
  if (unopened === 0) return { name, ok: true, detail: `exports are signed by ${keys[0]}` };
  const ours = keys.length === 0 ? 'none of them opens' : `those that open are ${keys.join(', ')}`;
  const detail = `${unopened} of ${counted(keys.length + unopened, 'key')} in vault_signing_keys cannot be opened and counts for nothing; ${ours}`;
  const cure =
    'see the line master key; if no generation is lost, the table was changed by hand: docs/operations/support.md';
  return { name, ok: false, detail, cure };
};

/** The generation that sealed an event is needed to open it, so a lost generation is a fault. An older generation is not. */
export const masterKeyCheck = (generations: readonly MasterKeyGeneration[]): Check => {
  const name = 'master key';
  const named = (state: MasterKeyGeneration['state']) =>
    generations.filter((one) => one.state === state).map(({ generation }) => generation);
  const lost = named('lost');
  if (lost.length > 0) {
    const detail = `generation ${lost.join(', ')} is not in the key file: what it sealed cannot be opened`;
    const cure = `restore its line from your copy of the key file (${adviceWithoutCopy(lost)})`;
    return { name, ok: false, detail, cure };
  }
  const [waiting, givenUp] = [named('waiting'), named('given_up')];
  const strays = generations.filter(({ hasStrayLine }) => hasStrayLine === true).map(({ generation }) => generation);
  const old = generations
    .filter(({ state }) => state === 'opening')
    .reduce((sum, { certificates, dayKeys, signingKeys }) => sum + certificates + dayKeys + signingKeys, 0);
  const ofOld = counted(old, 'certificate or key is', 'certificates and keys are');
  const detail = [
    `${named('sealing').join()} seals`,
    ...(waiting.length === 0 ? [] : [`${waiting.join(', ')} waits in the key file`]),
    ...(givenUp.length === 0 ? [] : [`${givenUp.join(', ')} is given up`]),
    ...(strays.length === 0 ? [] : [`the key file holds another key as ${strays.join(', ')}, which is not used`]),
    ...(old === 0 ? [] : [`${ofOld} still under an older generation`]),
  ].join(', ');
  const ofStrays = strays.length === 0 ? undefined : adviceForStrayLines(strays, generations);
  const cure = old + waiting.length === 0 ? ofStrays : 'nfse master-key rotate';
  return { name, ok: old === 0, detail, cure };
};

/** Plain text that ALLOW_PLAINTEXT_ENGINES permits is reported and is no fault; TLS without verification is a fault. */
export const transportCheck = (addresses: EngineAddresses): Check => {
  const found = unprotectedConnections(addresses);
  const name = 'transport';
  if (found.length === 0)
    return { name, ok: true, detail: 'every engine beyond this machine is reached by verified TLS' };
  const detail = found
    .map(({ variable, tls }) =>
      tls === 'none' ? `${variable} has no TLS (ALLOW_PLAINTEXT_ENGINES)` : `${variable} has TLS without verification`,
    )
    .join('; ');
  const cure = found.map((connection) => `${connection.variable}: ${connection.cure}`).join('; ');
  return { name, ok: found.every(({ tls }) => tls === 'none'), detail, cure };
};
