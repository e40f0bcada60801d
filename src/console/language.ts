export type Language = 'pt' | 'en';

/** The cookie that keeps a chosen language; it holds nothing else. */
export const LANGUAGE_COOKIE = 'nfse_console_language';

/** Returns the text of a language; both stand side by side, so that no page forgets one. */
export type Say = (portuguese: string, english: string) => string;

export const sayIn =
  (language: Language): Say =>
  (portuguese, english) =>
    language === 'pt' ? portuguese : english;

export const isLanguage = (text: string | undefined): text is Language => text === 'pt' || text === 'en';

/** The chosen language, else the first of `Accept-Language` by its weights, else Portuguese. */
export const languageOf = (chosen: string | undefined, accepted = ''): Language => {
  if (isLanguage(chosen)) return chosen;
  const wanted = accepted
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.trim().toLowerCase().split(';');
      const weight = parameters.map((one) => /^\s*q=([\d.]+)$/.exec(one)?.[1]).find((one) => one !== undefined);
      return { language: range.split('-')[0], weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ language, weight }) => isLanguage(language) && weight > 0)
    .sort((one, other) => other.weight - one.weight);
  const [first] = wanted;
  return isLanguage(first?.language) ? first.language : 'pt';
};
