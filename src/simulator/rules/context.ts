import { type Environment, otherMode, type World } from '../environment.js';
import type { Dps } from './dps.js';
import { placeOfIncidence } from './incidence.js';
import type { RuleContext } from './rule.js';

/** What the rules may look at for one DPS, at this moment of the authorizer's clock. */
export const ruleContext = (world: World, environment: Environment, dps: Dps): RuleContext => {
  const { ledger, registry, mode, tpAmb } = environment;
  const place = placeOfIncidence(dps);
  return {
    dps,
    tpAmb,
    now: world.clock.now(),
    tables: world.tables,
    registers: registry,
    notes: {
      note: ledger.noteByKey,
      events: (accessKey) => ledger.events(accessKey).map(({ type }) => type),
      isElsewhere: (accessKey) => world.environments[otherMode(mode)].ledger.noteByKey(accessKey) !== undefined,
    },
    municipality: registry.municipality(dps.municipality),
    incidence: place === undefined ? {} : registry.municipality(place),
    company: registry.company(dps.emitter),
  };
};
