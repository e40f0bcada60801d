import { describe, expect, it } from 'vitest';
import { visibleDirections } from '../../src/lib/visible-directions.js';

const CONTROLS = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
const SHOWN = '\\u202a\\u202b\\u202c\\u202d\\u202e\\u2066\\u2067\\u2068\\u2069';

describe('a control of writing direction in a text of a client', () => {
  it('is shown as JSON writes it, and all else as it is', () => {
    expect(visibleDirections(`ação ${CONTROLS} \u05d0`)).toBe(`ação ${SHOWN} \u05d0`);
  });
});
