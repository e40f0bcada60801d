import { type Decided, type Fold, noChange } from '../common/decision.js';
import type { Instant } from '../common/time.js';
import type { Catalogue } from '../company/line-selection.js';
import { unmetDemandOf } from '../company/service-rules.js';
import { sortedJson } from '../log/hash-text.js';
import type { CatalogEvent, OperatorLine } from './events.js';

/** The lines of one CNAE; undefined while no operator has entered any. */
type CatalogState = readonly OperatorLine[] | undefined;

export const catalogFold: Fold<CatalogState, CatalogEvent> = {
  initial: undefined,
  evolve: (_state, event) => event.data.lines,
};

/** No events when the operator's lines are the same as before. Importing lines equal to the shipped ones is a change. */
export const replaceLines = (
  state: CatalogState,
  cnae: string,
  lines: readonly OperatorLine[],
  at: Instant,
): Decided<CatalogEvent> =>
  state !== undefined && sortedJson(state) === sortedJson(lines)
    ? noChange
    : { events: [{ type: 'CatalogLinesReplaced', data: { cnae, lines, at } }] };

export type ImportedLines = ReadonlyMap<string, readonly OperatorLine[]>;

/**
 * The shipped catalogue in which imported CNAEs replace the shipped ones: all lines of a CNAE are the operator's, or all are shipped. A
 * line whose service the API cannot describe stays blocked, also a line imported before that was known.
 */
export const overlaidCatalogue = (shipped: Catalogue, imported: ImportedLines): Catalogue => {
  const overlaid = new Map([...imported].map(([cnae, lines]) => [cnae, lines.map(blockedWhereUnsupported)]));
  return { ...shipped, linesOf: (cnae) => overlaid.get(cnae) ?? shipped.linesOf(cnae) };
};

const blockedWhereUnsupported = (line: OperatorLine): OperatorLine =>
  unmetDemandOf(line.serviceCode) === undefined ? line : { ...line, isBlocked: true };
