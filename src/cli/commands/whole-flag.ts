/** A flag's whole number from 0; undefined for what is none. */
export const wholeFlag = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined);
