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
