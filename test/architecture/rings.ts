import { importsOf, type SourceFile } from './imports.js';

/**
 * Rings of imports, types included: files of which each reaches every other by its imports. Tarjan's strongly connected components with more than one
 * file; a file that imports itself counts too. Empty is good.
 */
export const ringsOf = (files: readonly SourceFile[]): readonly (readonly string[])[] => {
  const known = new Set(files.map(({ path }) => path));
  const importedBy = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .map((target) => target.replace(/\.js$/, '.ts'))
        .filter((target) => known.has(target)),
    ]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const rings: string[][] = [];

  const visit = (path: string): number => {
    const own = order.size;
    order.set(path, own);
    lowest.set(path, own);
    open.push(path);
    const targets = importedBy.get(path) ?? [];
    for (const target of targets) {
      const seen = order.get(target);
      if (seen === undefined) lowest.set(path, Math.min(lowest.get(path) ?? own, visit(target)));
      else if (open.includes(target)) lowest.set(path, Math.min(lowest.get(path) ?? own, seen));
    }
    if (lowest.get(path) === own) {
      const ring = open.splice(open.indexOf(path));
      if (ring.length > 1 || targets.includes(path)) rings.push(ring.sort());
    }
    return lowest.get(path) ?? own;
  };

  for (const { path } of files) if (!order.has(path)) visit(path);
  return rings;
};
