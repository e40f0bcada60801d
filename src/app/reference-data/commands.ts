import { evolveCatalog, type ImportedLines, replaceLines } from '../../domain/catalog/catalog.js';
import { catalogStream } from '../../domain/catalog/events.js';
import {
  evolveMunicipality,
  type MunicipalityDemands,
  municipalityStream,
  setDemands,
} from '../../domain/municipality/demands.js';
import { evolveEntry, type LocalEntry, putEntry, registryStream } from '../../domain/registry/entry.js';
import { systemApiStream } from '../../domain/shared/ids.js';
import { type ApiSwitch, evolveApiSwitch, switchApi } from '../../domain/system/api-switch.js';
import type { SystemEvent } from '../../domain/system/events.js';
import { inGroups } from './in-groups.js';
import { type ReferenceDeps, recordChange } from './record.js';

/** Streams written at once: the log commits them together. */
const AT_ONCE = 16;

/** Replaces the lines of every CNAE named, which were all checked before; answers how many changed. */
export const importCatalog = async (lines: ImportedLines, deps: ReferenceDeps): Promise<number> => {
  const changed = await inGroups(AT_ONCE, [...lines], ([cnae, ofCnae]) =>
    recordChange(
      {
        stream: catalogStream(cnae),
        initial: undefined,
        evolve: evolveCatalog,
        decide: (state) => replaceLines(state, cnae, ofCnae, deps.clock.now()),
      },
      deps,
    ),
  );
  return changed.filter(Boolean).length;
};

/** `ibge` is a code of the national table. */
export const setMunicipality = (ibge: string, change: MunicipalityDemands, deps: ReferenceDeps): Promise<boolean> =>
  recordChange(
    {
      stream: municipalityStream(ibge),
      initial: {},
      evolve: evolveMunicipality,
      decide: (state) => setDemands(state, ibge, change, deps.clock.now()),
    },
    deps,
  );

/** Answers how many entries changed. */
export const putRegistryEntries = async (
  entries: ReadonlyMap<string, LocalEntry>,
  deps: ReferenceDeps,
): Promise<number> => {
  const changed = await inGroups(AT_ONCE, [...entries], ([cnpj, entry]) =>
    recordChange(
      {
        stream: registryStream(cnpj),
        initial: undefined,
        evolve: evolveEntry,
        decide: (state) => putEntry(state, cnpj, entry, deps.clock.now()),
      },
      deps,
    ),
  );
  return changed.filter(Boolean).length;
};

/** The kill switch (the operator interface "api off|on"): holds for every api process within 2 s; work in flight goes on. */
export const setApiSwitch = (to: ApiSwitch, reason: string | undefined, deps: ReferenceDeps): Promise<boolean> =>
  recordChange<ApiSwitch, SystemEvent>(
    {
      stream: systemApiStream,
      initial: 'on',
      evolve: evolveApiSwitch,
      decide: (state) => switchApi(state, to, reason, deps.clock.now()),
    },
    deps,
  );
