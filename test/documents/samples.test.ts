import { beforeAll, describe, expect, it } from 'vitest';
import { compiledProgram } from '../support/compiled.js';
import { describeWith } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { normalised, selected } from '../tools/documents/normalise.js';
import { readPage } from '../tools/documents/pages.js';
import { SAMPLE_PAGES, samplePages } from '../tools/documents/samples.js';

describeWith('curl', 'the sample output of the documents', () => {
  let made: Readonly<Record<string, string>> = {};
  beforeAll(async () => {
    made = await samplePages([compiledProgram('src/main.ts')], temporaryFolder());
  });

  it.each(SAMPLE_PAGES)('of %s is what the program prints; if not: npm run documents -- --samples', (path) => {
    expect(readPage(path)).toBe(made[path]);
  });

  it('shows the lost answer end with one note', () => {
    expect(made['README.md']).toContain('the authorizer received 1 send and holds exactly 1 note for this request');
    expect(made['README.md']).toMatch(/IssuanceOutcomeUnknown .*\n.* Authorized .* by lookup$/m);
  });
});

describe('what differs from run to run', () => {
  it('is replaced, and nothing else', () => {
    const shown = normalised('  1.02 s     +7 ms  POST /v1/nfse -> 202 queued\nservice on http://127.0.0.1:40123\n');
    expect(shown).toBe('POST /v1/nfse -> 202 queued\nservice on http://127.0.0.1:3000');
    expect(normalised('the authorizer holds exactly 2 notes')).toBe('the authorizer holds exactly 2 notes');
    expect(normalised('"status":"failed"')).toBe('"status":"failed"');
  });

  it('leaves identities of documents that must stay the same', () => {
    const dps = 'DPS330455721234567800019500001000000000000001';
    expect(normalised(`attempt 1, ${dps}`)).toBe(`attempt 1, ${dps}`);
    const key = (end: string) => `access key 330455722123456780001950000000000001${end}, by lookup`;
    expect(normalised(key('26129999999999'))).toBe(normalised(key('26110123456785')));
  });

  it('is cut to the fields that a page shows', () => {
    expect(selected('{"a":1,"b":2}\n{"b":3}', 'b')).toBe('{"b":2}\n{"b":3}');
    expect(selected('{"a":1}', undefined)).toBe('{"a":1}');
  });
});
