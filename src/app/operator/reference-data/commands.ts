import { catalogFold, type ImportedLines, replaceLines } from '../../../domain/catalog/catalog.js';
import { type CatalogEvent, catalogStream } from '../../../domain/catalog/events.js';
import type { Decided } from '../../../domain/common/decision.js';
import { type StreamName, systemApiStream } from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import type { Instant } from '../../../domain/common/time.js';
import { municipalityFold, setDemands } from '../../../domain/municipality/demands.js';
import { type MunicipalityDemands, municipalityStream } from '../../../domain/municipality/events.js';
import { putEntry, registryFold } from '../../../domain/registry/entry.js';
import { type LocalEntry, registryStream } from '../../../domain/registry/events.js';
import { type ApiSwitch, apiSwitchFold, switchApi } from '../../../domain/system/api-switch.js';
import type { SystemEvent } from '../../../domain/system/events.js';
import { inGroups } from '../../../lib/in-groups.js';
import { operatorContext } from '../../event-store/command-context.js';
import type { DomainEvent } from '../../event-store/event-types.js';
import type { Command } from '../../event-store/transact.js';
import { type ApplyingDeps, inForceAtOnce, transactAndApply } from '../transact-and-apply.js';

/** Streams appended to at once, so that the log commits them together. */
const AT_ONCE = 16;

/** Replaces the lines of every CNAE in the file, which was checked as a whole before; returns how many CNAEs changed. */
export const importCatalog = async (lines: ImportedLines, deps: ApplyingDeps): Promise<number> => {
  const changed = await inGroups(AT_ONCE, [...lines], ([cnae, ofCnae]) =>
    appendChange(catalogStream(cnae), catalogFold, (state, now) => replaceLines(state, cnae, ofCnae, now), deps),
  );
  return changed.filter(Boolean).length;
};

/**
 * The lines on record of these CNAEs, as the log has them: rows that are behind lack lines, and a file made from such rows would undo the lines on record
 * when it is imported. A CNAE without lines on record is missing.
 */
export const recordedLines = async (
  cnaes: Iterable<string>,
  { store }: Pick<ApplyingDeps, 'store'>,
): Promise<ImportedLines> => {
  const found = await inGroups(AT_ONCE, [...cnaes], async (cnae) => {
    const last = { direction: 'backwards', limit: 1 } as const;
    const { events } = await store.load<CatalogEvent>(catalogStream(cnae), last);
    return { cnae, lines: events.reduce(catalogFold.evolve, catalogFold.initial) };
  });
  return new Map(found.flatMap(({ cnae, lines }) => (lines === undefined ? [] : [[cnae, lines]])));
};

/** `ibge` is a code of the national table. */
export const setMunicipality = (ibge: string, change: MunicipalityDemands, deps: ApplyingDeps): Promise<boolean> =>
  appendChange(municipalityStream(ibge), municipalityFold, (state, now) => setDemands(state, ibge, change, now), deps);

/** Returns how many entries changed. */
export const putRegistryEntries = async (
  entries: ReadonlyMap<string, LocalEntry>,
  deps: ApplyingDeps,
): Promise<number> => {
  const changed = await inGroups(AT_ONCE, [...entries], ([cnpj, entry]) =>
    appendChange(registryStream(cnpj), registryFold, (state, now) => putEntry(state, cnpj, entry, now), deps),
  );
  return changed.filter(Boolean).length;
};

/** The kill switch: holds for every api process within 2 s; work under way continues. Throws `NotInForceYet`. */
export const setApiSwitch = (to: ApiSwitch, reason: string | undefined, deps: ApplyingDeps): Promise<boolean> =>
  appendChange(systemApiStream, apiSwitchFold, (state, now) => switchApi(state, to, reason, now), inForceAtOnce(deps));

/** Who switched the API off, when, and why if a reason was given. */
export type SwitchedOff = { since: Instant; by: string; reason?: string };

/** The turn of the kill switch that holds, as the log has it; undefined while the API is on. */
export const apiSwitchedOffBy = async ({ store }: Pick<ApplyingDeps, 'store'>): Promise<SwitchedOff | undefined> => {
  const { events } = await store.load<SystemEvent>(systemApiStream, { direction: 'backwards', limit: 1 });
  const [last] = events;
  if (last?.type !== 'ApiSwitchedOff') return undefined;
  return present({ since: last.data.at, by: last.metadata.actor ?? 'unknown', reason: last.data.reason });
};

/** Decides on the log, appends, and applies the row at once; true when something changed. Throws `StreamContended`. */
const appendChange = async <State, Event extends DomainEvent>(
  stream: StreamName,
  fold: Command<State, Event, never>['fold'],
  decide: (state: State, now: Instant) => Decided<Event>,
  deps: ApplyingDeps,
): Promise<boolean> => {
  const command: Command<State, Event, never> = {
    stream,
    read: 'opened',
    fold,
    decide: (state, { now }) => decide(state, now),
    context: operatorContext('operate_reference_data', { actor: deps.actor }),
  };
  return (await transactAndApply(command, deps)).kind === 'appended';
};
