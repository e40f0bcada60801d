/** The parts of a PromQL expression that tell whether its series can exist. */
type Asked = {
  metrics: readonly string[];
  /** Label matchers beside their metric. */
  matchers: readonly { metric: string; label: string; operator: string; value: string }[];
  /** Labels of `by (...)`, `without (...)` and `on (...)`. */
  grouping: readonly string[];
};

const KEYWORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'bool', 'offset']);
const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/g;
const SELECTOR = /([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;

/** Throws when brackets do not match; promtool checks the full grammar. */
export const readPromql = (expression: string): Asked => {
  checkBrackets(expression);
  const matchers = [...expression.matchAll(SELECTOR)].flatMap(([, metric = '', inside = '']) =>
    [...inside.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
      metric,
      label,
      operator,
      value,
    })),
  );
  const grouping = [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.match(NAME) ?? []);
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replace(GROUPING, ' ');
  const metrics = [...bare.matchAll(NAME)]
    .filter(({ 0: name, index }) => !KEYWORDS.has(name) && !/^\s*\(/.test(bare.slice(index + name.length)))
    .filter(({ index }) => !/[0-9.]/.test(bare[index - 1] ?? ''))
    .map(([name]) => name);
  return { metrics: [...new Set(metrics)], matchers, grouping };
};

const PAIRS: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' };

const checkBrackets = (expression: string): void => {
  const open: string[] = [];
  for (const sign of expression.replace(/"[^"]*"/g, '')) {
    if ('({['.includes(sign)) open.push(sign);
    if (sign in PAIRS && open.pop() !== PAIRS[sign]) throw new Error(`a stray ${sign} in ${expression}`);
  }
  if (open.length > 0) throw new Error(`${open.join('')} is not closed in ${expression}`);
};
