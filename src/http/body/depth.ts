const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** `unclosed`: too deep, and no JSON at all, for what it opens it does not close. */
export type Nesting = 'fits' | 'too_deep' | 'unclosed';

/** How arrays and objects nest in this text, without parsing it: a parser would need memory for each level. */
export const nestingOf = (limit: number, json: string): Nesting => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const unit = json.charCodeAt(index);
    if (inString) {
      if (unit === BACKSLASH) index += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (OPENING.has(unit)) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (CLOSING.has(unit)) depth -= 1;
  }
  if (deepest <= limit) return 'fits';
  return depth === 0 && !inString ? 'too_deep' : 'unclosed';
};
