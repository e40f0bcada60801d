/**
 * The text with each invisible character, also a control of writing direction, written as in JSON (`\u200b`, `\u202e`): with one a reference or a
 * description of a client looks like another one. What joins the parts of an emoji stays.
 */
export const visibleCharacters = (text: string): string =>
  text.replace(INVISIBLE, (found, emoji: string | undefined) => (emoji === undefined ? escaped(found) : emoji));

/** U+FFF9 to U+FFFB mark annotations, which no font shows. */
const INVISIBLE =
  /([0-9#*]\ufe0f\u20e3|\p{Extended_Pictographic}(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)*)|[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** JSON writes a character beyond U+FFFF as two. */
const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** A control character of a text that is quoted could move the cursor or retitle the terminal, and an invisible one show another text. */
export const printable = (text: string): string => visibleCharacters(text.replace(/[^\P{Cc}\n\t]/gu, '\uFFFD'));

/** The same for one line of a report: a line break in a value could begin a line that looks like one of the report. */
export const printableLine = (text: string): string => printable(text).replace(/[\n\t\u2028\u2029]/g, '\uFFFD');

/** The text of a report. */
export const printableLines = (lines: readonly string[]): string => lines.map(printableLine).join('\n');
