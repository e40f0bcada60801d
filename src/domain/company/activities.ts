import type { CatalogueLine } from '../catalog/events.js';
import type { Mode } from '../common/ids.js';
import type { Registration } from './events.js';
import { type Catalogue, mainFirst, selectLine } from './line-selection.js';

/** An item of `GET /v1/activities` (docs/contract.md, "Activity"). */
export type ActivityBody = {
  object: 'activity';
  cnae: string;
  service_code: string;
  description: string;
  is_main: boolean;
  is_default: boolean;
};

/**
 * Exactly the lines that eligibility in this mode accepts when sent as `cnae` and `service_code`, for a company that no rule about the company itself
 * refuses (LISTACT-2).
 */
export const issuableActivities = (
  registration: Registration,
  mode: Mode,
  catalogue: Catalogue,
): readonly ActivityBody[] =>
  mainFirst(registration.activities).flatMap((activity) =>
    catalogue
      .linesOf(activity.cnae)
      .filter((line) => isIssuable(line, activity, mode, catalogue))
      .map((line) => ({
        object: 'activity' as const,
        cnae: activity.cnae,
        service_code: line.serviceCode,
        description: `${maskedCnae(activity.cnae)} ${line.description}`,
        is_main: activity.isMain,
        is_default: line.isDefault,
      })),
  );

type Activity = Registration['activities'][number];

/** With its own activity alone, because a company may have hundreds and `cnae` chooses among them. */
const isIssuable = (line: CatalogueLine, activity: Activity, mode: Mode, catalogue: Catalogue): boolean => {
  const selected = selectLine({ cnae: activity.cnae, serviceCode: line.serviceCode }, [activity], catalogue);
  if ('refused' in selected || selected.line !== line || line.nbs === undefined) return false;
  return mode === 'live' || catalogue.isNbs(line.nbs);
};

const maskedCnae = (cnae: string): string => `${cnae.slice(0, 4)}-${cnae.slice(4, 5)}/${cnae.slice(5)}`;
