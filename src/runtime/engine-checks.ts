import { registry } from '../../projections/registry.js';
import { lookAtGuards } from '../adapters/guards-postgres/guards-record.js';
import { isPaused } from '../adapters/guards-postgres/set-back.js';
import { createLag } from '../app/read/lag.js';
import type { Check } from '../cli/session.js';
import { counted } from '../cli/text.js';
import type { Clock } from '../ports/clock.js';
import { isEarlier } from '../ports/event-log.js';
import { shippedCatalogue } from '../tables/catalogue.js';
import { readCheckpoint } from '../workers/projection-checkpoint.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';

const RECONCILE = 'read docs/operations/lost-database.md, then nfse doctor --reconcile';

/** A database that keeps the log too cannot be older or newer than it; that both were put back, whoever did it has noted. */
export const guardsChecks = async ({ pool, log }: Engines, { eventStoreUrl }: Config): Promise<readonly Check[]> => {
  if (eventStoreUrl === undefined) {
    const paused = await isPaused(pool, await log.identity());
    const detail = paused ? 'the log was put back and not yet compared with the authorizer: issuing is paused' : '';
    return paused ? [{ name: 'guards', ok: false, detail, cure: 'nfse doctor --reconcile' }] : [];
  }
  const look = await lookAtGuards(pool, await log.identity());
  const head = await log.head();
  const ok = !look.wasSetBack && !isEarlier(head, look.furthest);
  const detail = ok
    ? `${look.guards === null ? 'none looked at yet' : `complete up to ${look.guards}`}; what is missing is rebuilt at the start`
    : `the log was found to end before ${look.furthest ?? 'what was seen'} (it ends at ${head ?? 'nothing'} now): issuing is paused`;
  return [{ name: 'guards', ok, detail, ...(ok ? {} : { cure: RECONCILE }) }];
};

const LAG_LIMIT_SECONDS = 30;

/** Whether database, log and read models are there, and how far each read model is behind. */
export const engineChecks = async ({ pool, log, readModel }: Engines, clock: Clock): Promise<readonly Check[]> => {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const checks: Check[] = [
    { name: 'database', ok: true, detail: `PostgreSQL ${rows[0]?.server_version ?? 'unknown'}` },
    { name: 'event log', ok: true, detail: `identity ${await log.identity()}, head ${(await log.head()) ?? 'empty'}` },
  ];
  const lagOf = createLag(log, clock);
  const head = await log.head();
  for (const projection of registry.projections) {
    const checkpoint = await readCheckpoint(pool, projection);
    if (isEarlier(head, checkpoint)) {
      const detail = 'made from events that the log does not have';
      checks.push({ name: `projection ${projection.name}`, ok: false, detail, cure: RECONCILE });
      continue;
    }
    const lag = await lagOf(projection.prefixes, checkpoint);
    const ok = lag < LAG_LIMIT_SECONDS;
    const cure = 'start a process with the role projector (nfse serve) and read its log';
    checks.push({
      name: `projection ${projection.name}`,
      ok,
      detail: `${Math.round(lag)} s behind the log`,
      ...(ok ? {} : { cure }),
    });
  }
  checks.push(await catalogueCheck(readModel));
  return checks;
};

/** Not a fault, but an operator should look at each shipped default before it is used in live mode. */
const catalogueCheck = async (readModel: Engines['readModel']): Promise<Check> => {
  const companies = await readModel.companies();
  const cnaes = new Set(
    companies.flatMap((company) =>
      company.kind === 'company' ? company.registration.activities.map(({ cnae }) => cnae) : [],
    ),
  );
  const imported = await readModel.catalogLines([...cnaes]);
  const unreviewed = [...cnaes]
    .filter((cnae) => !imported.has(cnae))
    .flatMap((cnae) => shippedCatalogue.linesOf(cnae))
    .filter(({ serviceCode }) => serviceCode !== '');
  const detail = `${counted(unreviewed.length, 'shipped line')} of registered companies' activities not reviewed by an operator`;
  const cure = 'nfse catalog export > FILE.tsv, look at the lines, then nfse catalog import FILE.tsv';
  return { name: 'catalogue', ok: true, detail, ...(unreviewed.length === 0 ? {} : { cure }) };
};
