import { expect, it } from 'vitest';
import { readableLine } from '../../../src/runtime/config/logger.js';

const line = (fields: object): string =>
  `${JSON.stringify({ level: 30, time: '2026-11-21T12:00:05.123Z', ...fields })}\n`;

it('a line is read with its time, level, message and fields', () => {
  expect(readableLine(line({ level: 40, msg: 'issuing', notice: 'number_conflict', roles: ['api'] }), false)).toBe(
    '12:00:05.123  warn   issuing  notice=number_conflict  roles=["api"]\n',
  );
});

it('the line ready shows where a person goes next', () => {
  const shown = readableLine(
    line({
      msg: 'ready',
      url: 'http://127.0.0.1:3000',
      docs_url: 'http://127.0.0.1:3000/docs',
      console_url: 'http://127.0.0.1:3001/console',
      simulator_control_url: 'http://127.0.0.1:40001',
    }),
    false,
  );
  expect(shown.split('\n')).toEqual([
    '12:00:05.123  info   ready',
    '    API                 http://127.0.0.1:3000/v1',
    '    documentation       http://127.0.0.1:3000/docs',
    '    console             http://127.0.0.1:3001/console',
    '    simulator control   http://127.0.0.1:40001',
    '',
  ]);
});

it('a control character of a value neither moves the cursor nor begins a line', () => {
  const forged = '28P01\u001b]0;x\u0007\u009b\n12:00:06.000  info   all is well\u202e';
  const shown = readableLine(line({ msg: forged, code: forged, [forged]: 1, list: [forged] }), false);
  expect(shown.match(/\p{Cc}|\u202e/gu)).toEqual(['\n']);
  expect(shown).toContain('code=28P01\ufffd]0;x\ufffd\ufffd\ufffd12:00:06.000');
  expect(readableLine('{"a":"\u009b"}\n', false)).toBe('{"a":"\ufffd"}\n');
});

it('levels have a colour where colours are wanted, and what is no line of the log stays as it is', () => {
  expect(readableLine(line({ level: 50, msg: 'x' }), true)).toContain('\x1b[31merror\x1b[0m');
  for (const other of ['plain text\n', '{"half":', '"msg"\n', '{}\n']) expect(readableLine(other, false)).toBe(other);
});
