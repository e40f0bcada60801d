import type { Catalogue } from '../company/line-selection.js';
import { unmetDemandOf } from '../company/unsupported-services.js';
import { sortedJson } from '../log/hash-text.js';
import type { Instant } from '../shared/time.js';
import type { CatalogEvent, OperatorLine } from './events.js';

/** The lines of one CNAE; undefined while no operator has said anything about it. */
export type CatalogState = readonly OperatorLine[] | undefined;

export const evolveCatalog = (_state: CatalogState, event: CatalogEvent): CatalogState => event.data.lines;

/** No events: an operator has said exactly this before. The shipped lines imported as they are do count as said. */
export const replaceLines = (
  state: CatalogState,
  cnae: string,
  lines: readonly OperatorLine[],
  at: Instant,
): { events: readonly CatalogEvent[] } =>
  state !== undefined && sortedJson(state) === sortedJson(lines)
    ? { events: [] }
    : { events: [{ type: 'CatalogLinesReplaced', data: { cnae, lines, at } }] };

export type ImportedLines = ReadonlyMap<string, readonly OperatorLine[]>;

/**
 * The shipped catalogue with the imported CNAEs in place of its own: per CNAE either all lines are the operator's or none. A
 * line whose service the API cannot describe stays blocked, also one imported before that was known.
 */
export const overlaidCatalogue = (shipped: Catalogue, imported: ImportedLines): Catalogue => {
  const released = new Map([...imported].map(([cnae, lines]) => [cnae, lines.map(blockedWhereUnsupported)]));
  return { ...shipped, linesOf: (cnae) => released.get(cnae) ?? shipped.linesOf(cnae) };
};

const blockedWhereUnsupported = (line: OperatorLine): OperatorLine =>
  unmetDemandOf(line.serviceCode) === undefined ? line : { ...line, isBlocked: true };
