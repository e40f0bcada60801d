import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export type SourceFile = { path: string; text: string };

/** Every TypeScript file below the folders, by its path from the repository's root. */
export const sourceFiles = (root: string, folders: readonly string[]): readonly SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|mts|mjs|js)$/.test(name))
      .map((name) => join(folder, name))
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  );

/** Removes comments, because they may name any module. Strings stay, because a string may contain text that looks like a comment. */
export const withoutComments = (text: string): string =>
  text.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`)|\/\*[\s\S]*?\*\/|(?<![:\\/])\/\/[^\n]*/g,
    (_match, quoted: string | undefined) => quoted ?? '',
  );

/** What follows `from`, a bare `import`, a dynamic `import(` or an import type: packages as they are, files from the root. */
export const importsOf = ({ path, text }: SourceFile): readonly string[] =>
  [...withoutComments(text).matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)(["'`])([^"'`\n]+)\1/g)].map(
    ([, , target = '']) => (target.startsWith('.') ? normalize(join(dirname(path), target)) : target),
  );

const STATIC =
  /^(?:import|export)\b(?!\s+type\b)(?!\s*\()[^;]*?\bfrom\s*(["'])([^"'\n]+)\1|^import\s*(["'])([^"'\n]+)\3/gm;

/** What is loaded with a file: files of these and packages, by imports that are neither types alone nor dynamic, over any number of steps. */
export const loadedWith = (path: string, files: readonly SourceFile[]): ReadonlySet<string> => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Set<string>();
  const load = (target: string): void => {
    if (loaded.has(target)) return;
    loaded.add(target);
    const file = byPath.get(target.replace(/\.js$/, '.ts'));
    if (file === undefined) return;
    for (const [, , from, , bare] of withoutComments(file.text).matchAll(STATIC)) {
      const next = from ?? bare ?? '';
      load(next.startsWith('.') ? normalize(join(dirname(file.path), next)) : next);
    }
  };
  load(path);
  return loaded;
};
