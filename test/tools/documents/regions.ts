const begin = (name: string): string => `<!-- begin generated: ${name} -->`;
const end = (name: string): string => `<!-- end generated: ${name} -->`;

/** The page with `body` between the two marks of the region; throws when the page has no such region. */
export const withRegion = (page: string, name: string, body: string): string => {
  const [before, rest] = cut(page, begin(name), name);
  const [, after] = cut(rest, end(name), name);
  return `${before}${begin(name)}\n\n${body.trim()}\n\n${end(name)}${after}`;
};

const cut = (text: string, mark: string, name: string): readonly [before: string, after: string] => {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`the page has no mark of the generated region ${name}: ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
};

/** Text of one cell of a Markdown table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
