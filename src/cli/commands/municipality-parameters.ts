import { ageSeconds, type ToldParameters, USED_SECONDS } from '../../domain/municipality/parameters.js';
import type { Instant } from '../../domain/shared/time.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import type { ParametersEntry } from '../../ports/municipal-parameters.js';

/** What `municipality show` tells of the parameters API: every question's last answer and its age, per environment. */
export const shownParameters = (entries: readonly ParametersEntry[], now: Instant) => ({
  test: entries.filter(({ mode }) => mode === 'test').map((entry) => shown(entry, now)),
  live: entries.filter(({ mode }) => mode === 'live').map((entry) => shown(entry, now)),
});

const shown = ({ place, told, toldAt, askedAt, failures, reason }: ParametersEntry, now: Instant) => ({
  question: place,
  ...(told === undefined || toldAt === undefined
    ? { told: null }
    : {
        told: factsOf(told),
        told_at: toldAt,
        age_s: ageSeconds(toldAt, now),
        in_use: ageSeconds(toldAt, now) <= USED_SECONDS,
      }),
  asked_at: askedAt,
  ...(failures === 0 ? {} : { unanswered: failures, reason }),
});

const factsOf = (told: ToldParameters) => {
  switch (told.kind) {
    case 'convenio':
      return told.isActive
        ? {
            active: true,
            shares_documents: told.sharesDocuments ?? null,
            national_emitter: told.nationalEmitter ?? null,
            rfb_contributors_may_issue: told.rfbContributors ?? null,
          }
        : { active: false };
    case 'aliquota':
      return { rates: told.rates };
    case 'regimes_especiais':
      return { regimes: told.regimes };
    case 'retencoes':
      return { article_6: told.article6, municipal_rules: told.municipal };
    default:
      return unreachable(told);
  }
};
