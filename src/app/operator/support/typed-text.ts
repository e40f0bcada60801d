import { type AccessKey, isAccessKey } from '../../../domain/common/access-key.js';

/** The text in capitals, without what people write between the groups of a document, a key or an id: blanks, dots, slashes and hyphens. */
export const bareText = (text: string): string => text.replace(/[\s./-]/g, '').toUpperCase();

/** In a note's XML, `NFS` precedes the key. */
export const withoutNfs = (bare: string): string => bare.replace(/^NFS(?=.{50}$)/, '');

/**
 * The access keys of a text, each in one piece or in groups, with anything that `bareText` drops, a comma or a semicolon between them. Undefined when
 * the text holds anything else.
 */
export const typedAccessKeys = (text: string): readonly AccessKey[] | undefined => {
  const pieces = text.split(/[,;]/).map(bareText).filter(Boolean);
  const keys = pieces.flatMap((piece) => withoutNfs(piece).match(/.{1,50}/g) ?? []);
  return keys.every(isAccessKey) ? keys : undefined;
};
