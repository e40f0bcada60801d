/**
 * The text with each control of writing direction (U+202A to U+202E, U+2066 to U+2069) written as in JSON (`\u202e`). Such a control shows a text of a
 * client in another order than it has, so that a reference or a description looks like another one.
 */
export const visibleDirections = (text: string): string =>
  text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (control) => `\\u${control.charCodeAt(0).toString(16)}`);
