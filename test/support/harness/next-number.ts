import { operatorProjections } from '../../../projections/registry.js';
import { putCompanyFile } from '../../../src/app/operator/company/company-commands.js';
import { applyStreamNow } from '../../../src/projector/apply-now.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import type { Engines } from '../../../src/runtime/engines/engines.js';
import { rethrow } from './event-store.js';

/** As `company put` with another live next number in the file of the demo company. */
export const putNextNumber = async (
  { store, log, pool }: Pick<Engines, 'store' | 'log' | 'pool'>,
  nextNumber: number,
): Promise<void> => {
  const demo = demoCompany();
  const registration = { ...demo, dps: { ...demo.dps, live: { ...demo.dps.live, nextNumber } } };
  const put = await putCompanyFile(registration, {
    store,
    clock: systemClock,
    actor: 'support:maria',
    applyNow: async (stream) => applyStreamNow(pool, operatorProjections, await log.read(stream)),
    rowFollows: rethrow,
  });
  if ('refused' in put) throw new Error(put.refused);
};
