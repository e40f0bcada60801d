const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Whether arrays and objects nest deeper than `limit` anywhere in this JSON text. Says nothing about its validity. */
export const isDeeperThan = (limit: number, json: string): boolean => {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const unit = json.charCodeAt(index);
    if (inString) {
      if (unit === BACKSLASH) index += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (OPENING.has(unit)) {
      depth += 1;
      if (depth > limit) return true;
    } else if (CLOSING.has(unit)) depth -= 1;
  }
  return false;
};
