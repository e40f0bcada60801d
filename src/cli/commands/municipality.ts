import { setMunicipality } from '../../app/reference-data/commands.js';
import { demandsNow, type MunicipalityDemands } from '../../domain/municipality/demands.js';
import type { KeptParameters } from '../../domain/municipality/parameters.js';
import type { ParametersEntry } from '../../ports/municipal-parameters.js';
import { badUsage, type Command, done, type Flags, refused, textFlag } from '../command.js';
import { shownParameters } from './municipality-parameters.js';

/** A row of the national table by its 7-digit IBGE code. */
export type FindMunicipality = (ibge: string) => { ibge: string; name: string; uf: string } | undefined;

const set = (find: FindMunicipality): Command => ({
  name: 'municipality set',
  positionals: ['IBGE'],
  summary: 'record what a municipality demands of an invoice; what is not named stays as it is',
  options: {
    'requires-customer': { type: 'string', help: 'on or off: 422 nfse.customer_required' },
    'requires-registration': { type: 'string', help: 'on or off: 422 nfse.municipal_registration_missing' },
  },
  changes: true,
  run: async ({ positionals: [ibge = ''], flags, actor, session }) => {
    const change = demandsIn(flags);
    if (change === undefined) return badUsage('name --requires-customer or --requires-registration, each on or off');
    const found = find(ibge);
    if (found === undefined) return refused(`no municipality has the IBGE code ${ibge}`);
    await setMunicipality(ibge, change, (await session()).companyDeps(actor));
    return done(`${found.name}/${found.uf} recorded`, { ibge });
  },
});

const show = (find: FindMunicipality): Command => ({
  name: 'municipality show',
  positionals: ['IBGE'],
  summary: 'what a municipality demands of an invoice, and what the national system tells of it, with its age',
  options: {},
  changes: false,
  run: async ({ positionals: [ibge = ''], session }) => {
    const found = find(ibge);
    if (found === undefined) return refused(`no municipality has the IBGE code ${ibge}`);
    const { readModel, parameters, clock } = await session();
    const [demands, entries] = await Promise.all([readModel.municipalityDemands(ibge), parameters.entriesOf(ibge)]);
    const now = clock.now();
    // Test mode alone refuses for want of a registration, so its environment is the one that counts.
    const inForce = demandsNow(demands, keptIn(entries), 'normal', now);
    const shown = {
      ...{ ibge, name: found.name, state: found.uf },
      requires_customer: inForce.requiresCustomer,
      requires_registration: inForce.requiresRegistration,
      set_by_operator: said(demands),
      parameters: shownParameters(entries, now),
    };
    return done(JSON.stringify(shown, null, 2), shown);
  },
});

export const municipalityCommands = (find: FindMunicipality): readonly Command[] => [set(find), show(find)];

/** Undefined when nothing is named, or something else than on and off. */
const demandsIn = (flags: Flags): MunicipalityDemands | undefined => {
  const customer = textFlag(flags, 'requires-customer');
  const registration = textFlag(flags, 'requires-registration');
  const given = [customer, registration].filter((value) => value !== undefined);
  if (given.length === 0 || !given.every((value) => value === 'on' || value === 'off')) return undefined;
  return {
    ...(customer === undefined ? {} : { requiresCustomer: customer === 'on' }),
    ...(registration === undefined ? {} : { requiresRegistration: registration === 'on' }),
  };
};

const said = (demands: MunicipalityDemands | undefined): readonly string[] => [
  ...(demands?.requiresCustomer === undefined ? [] : ['requires_customer']),
  ...(demands?.requiresRegistration === undefined ? [] : ['requires_registration']),
];

const keptIn = (entries: readonly ParametersEntry[]): readonly KeptParameters[] =>
  entries.flatMap(({ mode, place, told, toldAt }) =>
    mode === 'test' && told !== undefined && toldAt !== undefined ? [{ place, told, toldAt }] : [],
  );
