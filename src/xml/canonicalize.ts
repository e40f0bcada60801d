import { canonicalizations } from './algorithms.js';
import { onlyChild, withXmlDocument } from './document.js';

/** Canonical text of the root's child of that name and `Id`; undefined when there is no such child or more than one. */
export const canonicalChild = (xml: Buffer, name: string, id: string, algorithm: string): string | undefined => {
  const options = canonicalizations[algorithm];
  if (options === undefined) throw new Error('not a canonicalization of the national system');
  const opened = withXmlDocument(xml, (document) => {
    const child = onlyChild(document.root, name);
    return child?.attr('Id')?.value === id ? child.canonicalizeToString(options) : undefined;
  });
  return opened.ok ? opened.value : undefined;
};
