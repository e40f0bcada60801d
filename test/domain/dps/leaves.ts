import { nodeAt, parseXml, type XmlValue } from '../../../src/xml/parse.js';

/** Text of every leaf and attribute of a document's element by its path: what a field by field comparison compares. */
export type Leaves = ReadonlyMap<string, string>;

/** `root` is the path of the element in the document; its signature is left out, for another key made it. */
export const leavesOf = (xml: string | Buffer, root: string): Leaves => {
  const parsed = parseXml(Buffer.from(xml));
  if (!parsed.ok) throw new Error(parsed.reason);
  const found = nodeAt(parsed.root, root);
  if (found === undefined) throw new Error(`the document has no ${root}`);
  const leaves = new Map<string, string>();
  collect(found, '', leaves);
  return leaves;
};

const collect = (node: XmlValue, path: string, leaves: Map<string, string>): void => {
  if (typeof node === 'string') {
    leaves.set(path, node);
    return;
  }
  for (const [name, value] of Object.entries(node)) {
    if (name !== 'Signature' && name !== '@xmlns') collect(value, path === '' ? name : `${path}/${name}`, leaves);
  }
};
