import { registry } from '../../projections/registry.js';
import type { DriftReport } from '../cli/session.js';
import { compareWithLog } from '../workers/projection-drift.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';

/** Every projection of this program against the log, one after the other. */
export const driftOf = async (
  { pool: db, log }: Pick<Engines, 'pool' | 'log'>,
  onProgress: (progress: { projection: string; events: number }) => void,
): Promise<DriftReport> => {
  let rows = 0;
  const drifts: DriftReport['drifts'][number][] = [];
  const notCompared: string[] = [];
  for (const projection of registry.projections) {
    const { name } = projection;
    const outcome = await compareWithLog(projection, {
      ...{ db, log },
      onProgress: (events) => onProgress({ projection: name, events }),
    });
    if (outcome.kind === 'busy') notCompared.push(`${name} is being compared by another audit`);
    else if (outcome.kind === 'not_comparable') notCompared.push(`${name}: ${outcome.reason}`);
    else {
      rows += outcome.rows;
      drifts.push(...outcome.drifts);
    }
  }
  return { rows, drifts, notCompared };
};

/** What links begin with: `BASE_URL`, else where the API listens. */
export const publicOrigin = ({ api }: Pick<Config, 'api'>): string => api.baseUrl ?? `http://${api.host}:${api.port}`;
