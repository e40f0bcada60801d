/** Codes that people copy with their mask. Patterns of the whole text, without anchors. */
const CODES = {
  cnpj: ['[0-9A-Z]{12}\\d{2}', '[0-9A-Z]{2}\\.[0-9A-Z]{3}\\.[0-9A-Z]{3}/[0-9A-Z]{4}-\\d{2}'],
  cpf: ['\\d{11}', '\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}'],
  postalCode: ['\\d{8}', '\\d{2}\\.?\\d{3}-\\d{3}'],
  cnae: ['\\d{7}', '\\d{4}-\\d/\\d{2}'],
  serviceCode: ['\\d{6}', '\\d{2}\\.\\d{2}\\.\\d{2}'],
  nbs: ['\\d{9}', '\\d\\.\\d{4}\\.\\d{2}\\.\\d{2}'],
} as const satisfies Record<string, readonly [plain: string, masked: string]>;

export type MaskedCode = keyof typeof CODES;

/** Matches the whole text of one of these codes, with its mask or without. */
export const codePattern = (...codes: readonly MaskedCode[]): RegExp =>
  new RegExp(`^(?:${codes.flatMap((code) => CODES[code]).join('|')})$`);

/** The code without its mask; a text that is no such code stays as it is. */
export const withoutMask = (text: string, ...codes: readonly MaskedCode[]): string =>
  codePattern(...codes).test(text.trim()) ? text.trim().replace(/[./-]/g, '') : text;
