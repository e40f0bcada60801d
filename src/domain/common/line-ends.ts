/**
 * The text with LF at each line end (TEXT-5). Every XML reader makes LF of a CR that is not written as a reference, so a CR in signed bytes would
 * depend on how each program on the way writes it.
 */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');
