import type { CatalogueLine } from '../catalog/events.js';
import type { ErrorCode } from '../common/error-catalogue.js';
import type { Registration } from './events.js';

/** What the rules use of the catalogue and the national tables. */
export type Catalogue = {
  /** All lines of a CNAE, blocked ones included. */
  linesOf(cnae: string): readonly CatalogueLine[];
  isServiceCode(code: string): boolean;
  isNbs(code: string): boolean;
};

type LineRefusal = Extract<
  ErrorCode,
  | 'nfse.cnae_not_allowed'
  | 'nfse.cnae_missing_ctribnac'
  | 'nfse.cnae_without_default'
  | 'nfse.service_code_unknown'
  | 'nfse.service_code_not_allowed'
>;

type Selected = { line: CatalogueLine } | { refused: LineRefusal };

/** Selects the activity line of a request, or the code of its refusal (LINE-1 to LINE-4). */
export const selectLine = (
  sent: { cnae?: string | undefined; serviceCode?: string | undefined },
  activities: Registration['activities'],
  catalogue: Catalogue,
): Selected => {
  const { cnae, serviceCode } = sent;
  if (cnae !== undefined && !activities.some((activity) => activity.cnae === cnae))
    return { refused: 'nfse.cnae_not_allowed' };
  if (serviceCode !== undefined && !catalogue.isServiceCode(serviceCode))
    return { refused: 'nfse.service_code_unknown' };
  if (serviceCode !== undefined) {
    const cnaes = cnae === undefined ? mainFirst(activities).map((activity) => activity.cnae) : [cnae];
    for (const candidate of cnaes) {
      const lines = catalogue.linesOf(candidate).filter((one) => one.serviceCode === serviceCode && !one.isBlocked);
      // Lines of one code may differ in their NBS.
      const line = lines.find(({ isDefault }) => isDefault) ?? lines[0];
      if (line !== undefined) return { line };
    }
    return { refused: 'nfse.service_code_not_allowed' };
  }
  const chosen = cnae ?? mainFirst(activities)[0]?.cnae;
  return chosen === undefined ? { refused: 'nfse.cnae_not_allowed' } : defaultLine(catalogue.linesOf(chosen));
};

const defaultLine = (lines: readonly CatalogueLine[]): Selected => {
  if (lines.length === 0) return { refused: 'nfse.cnae_missing_ctribnac' };
  const line = lines.find((candidate) => candidate.isDefault);
  if (line === undefined) return { refused: 'nfse.cnae_without_default' };
  return line.isBlocked ? { refused: 'nfse.cnae_not_allowed' } : { line };
};

export const mainFirst = (activities: Registration['activities']): Registration['activities'] => [
  ...activities.filter((activity) => activity.isMain),
  ...activities.filter((activity) => !activity.isMain),
];
