import {
  CONVENIO,
  type ParameterQuestion,
  placeOfQuestion,
  REFRESH_SECONDS,
} from '../../domain/municipality/parameters.js';
import type { CompanyId, Mode } from '../../domain/shared/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import type { ParametersEntry } from '../../ports/municipal-parameters.js';

/** What is to be known of one municipality, and the company whose certificate asks. */
export type Wanted = {
  mode: Mode;
  ibge: string;
  companyId: CompanyId;
  /** Dotted service codes of the lines that companies there use. */
  services: readonly string[];
};

export type DueQuestion = Omit<Wanted, 'services'> & { question: ParameterQuestion };

/** After a question that told nothing: doubles with each, at most six hours. */
const RETRY_SECONDS = { first: 60, longest: 6 * 3600 };

/**
 * The question whose turn it is: those never answered first, and the convênio of all municipalities before any rate of one;
 * then the one whose answer is oldest. Undefined when every answer is young enough or was asked for a moment ago.
 */
export const nextQuestion = (
  wanted: readonly Wanted[],
  entries: readonly ParametersEntry[],
  now: Instant,
): DueQuestion | undefined => {
  const known = new Map(entries.map((entry) => [keyOf(entry.mode, entry.ibge, entry.place), entry]));
  let best: { due: DueQuestion; rank: string } | undefined;
  for (const { services, ...one } of wanted) {
    for (const question of questionsOf(services)) {
      const entry = known.get(keyOf(one.mode, one.ibge, placeOfQuestion(question)));
      if (entry !== undefined && !isDue(entry, now)) continue;
      const rank = `${question.kind === 'convenio' ? 0 : 1}/${entry?.toldAt ?? ''}/${entry?.askedAt ?? ''}`;
      if (best === undefined || rank < best.rank) best = { due: { ...one, question }, rank };
    }
  }
  return best?.due;
};

const keyOf = (mode: Mode, ibge: string, place: string): string => `${mode}/${ibge}/${place}`;

const questionsOf = (services: readonly string[]): readonly ParameterQuestion[] => [
  CONVENIO,
  { kind: 'retencoes' },
  ...services.flatMap((service): ParameterQuestion[] => [
    { kind: 'aliquota', service },
    { kind: 'regimes_especiais', service },
  ]),
];

const isDue = ({ toldAt, askedAt, failures }: ParametersEntry, now: Instant): boolean => {
  if (failures > 0) {
    const pause = Math.min(RETRY_SECONDS.first * 2 ** Math.min(failures - 1, 20), RETRY_SECONDS.longest);
    return !isBefore(now, addSeconds(askedAt, pause));
  }
  return toldAt === undefined || !isBefore(now, addSeconds(toldAt, REFRESH_SECONDS));
};
