import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { areas } from '../../../src/domain/invoice/messages/areas.js';
import { ownReasons, reasonOf } from '../../../src/domain/invoice/messages/reasons.js';
import { officialCodesFile } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

type OfficialCode = { code: string; message: string; condition: string; field: string };

const officialCodes = (): readonly OfficialCode[] =>
  readFileSync(officialCodesFile, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => {
      const [code = '', , message = '', condition = '', , field = ''] = row.split('\t');
      return { code, message, condition, field };
    });

const areaCodes = Object.values(areas).flatMap(({ codes }) => codes.trim().split(/\s+/));
const reasons = [...new Set([...ownReasons.values(), ...Object.values(areas).map(({ reason }) => reason)])];

/** Every sequence of `words` consecutive words. */
const runsOf = (text: string, words: number): readonly string[] => {
  const all = text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];
  return all.flatMap((_word, at) => (at + words <= all.length ? [all.slice(at, at + words).join(' ')] : []));
};

/** The codes met most, each with a separate text. */
const MET_MOST =
  'E0004 E0006 E0008 E0010 E0014 E0015 E0016 E0037 E0038 E0039 E0041 E0084 E0116 E0119 E0120 E0121 E0124 E0128 E0160 ' +
  'E0162 E0166 E0174 E0175 E0188 E0190 E0202 E0206 E0207 E0234 E0237 E0240 E0310 E0312 E0314 E0315 E0316 E0318 E0322 ' +
  'E0330 E0540 E0590 E0591 E0600 E0602 E0604 E0612 E0617 E0619 E0621 E0625 E0628 E0631 E0635 E0640 E0710 E0712 E0713 E0714 ' +
  'E0716 E0717 E0718 E0822 E0840 E0901 E0903 E0958 E0964 E0965 E0969 E0972 E1228 E1229 E1235 E6154 E6155 RNG6110 RNG6159 RNG9997';

/** The codes of docs/national-system.md#codes-of-other-versions that no annex of the catalogue has. */
const OTHER_VERSIONS =
  'E0063 E0430 E0437 E0538 E0589 E0606 E0859 E0960 E0961 E1281 E1518 E1524 E1525 E1526 E1562 E1563 E1573 E1574'.split(
    ' ',
  );

describe('the reasons that a shop owner is told', () => {
  it('are written for each of the codes met most', () => {
    const codes = MET_MOST.split(' ');
    expect(codes.length).toBeGreaterThanOrEqual(60);
    expect(codes.filter((code) => !ownReasons.has(code))).toEqual([]);
  });

  it('are written for each code of other versions, and for E0860, which those versions use for a note', () => {
    expect([...OTHER_VERSIONS, 'E0860'].filter((code) => !ownReasons.has(code))).toEqual([]);
    expect(reasonOf('E0860')).not.toContain('cancelamento');
  });

  it('name each code in one area', () => {
    expect(areaCodes.filter((code, at) => areaCodes.indexOf(code) !== at)).toEqual([]);
    expect([...ownReasons.keys()].filter((code) => !areaCodes.includes(code))).toEqual([]);
  });

  /** Observed, but not in the list of the samples (docs/national-system.md#two-codes-for-one-fault). */
  const OBSERVED = ['RNG6159', 'RNG9997'];

  itWith('samples', 'exist for every official code, and for no other but the observed ones', () => {
    const official = [...new Set(officialCodes().map(({ code }) => code))];
    expect(official).toHaveLength(514);
    expect(official.filter((code) => reasonOf(code) === undefined)).toEqual([]);
    expect(OTHER_VERSIONS.filter((code) => official.includes(code))).toEqual([]);
    expect([...areaCodes].sort()).toEqual([...official, ...OBSERVED, ...OTHER_VERSIONS].sort());
  });

  itWith('samples', 'are about the group of the layout that the code is about', () => {
    const groups = {
      foreignTrade: /\/comExt/,
      worksAndEvents: /\/serv\/?(?:obra|atvEvento)/,
      deductions: /\/(?:vDedRed|vDescCondIncond)/,
      benefits: /\/BM\b/,
      federalTaxes: /\/tribFed/,
    } as const satisfies Partial<Record<keyof typeof areas, RegExp>>;
    for (const [area, field] of Object.entries(groups)) {
      const about = officialCodes().flatMap((official) => (field.test(official.field) ? [official.code] : []));
      expect(about.length).toBeGreaterThan(5);
      expect(areas[area as keyof typeof groups].codes.trim().split(/\s+/)).toEqual(expect.arrayContaining(about));
    }
  });

  itWith('samples', 'never repeat the official wording', () => {
    const official = new Set(
      officialCodes().flatMap(({ message, condition }) => runsOf(`${message}. ${condition}`, 9)),
    );
    const repeated = reasons.flatMap((reason) => runsOf(reason, 9).filter((run) => official.has(run)));
    expect(repeated).toEqual([]);
    expect(runsOf(officialCodes()[0]?.message ?? '', 9).some((run) => official.has(run))).toBe(true);
  });

  it.each(reasons)('say what is wrong and what to do, without the layout and its names: %s', (reason) => {
    expect(reason.split(/(?<=[.;])\s/).length).toBeGreaterThanOrEqual(2);
    expect(reason).toMatch(/\b(?:confira|confirme|corrija|peça|fale|envie|emita|aguarde|use|pergunte|informe)\b/i);
    expect(reason).toMatch(/^\p{Lu}.*\.$/u);
    expect(reason.length).toBeLessThanOrEqual(200);
    // What the API itself calls a field is known to its clients; the layout's names are not.
    expect(
      reason.replaceAll(/\b(?:customer(?:\.\w+)*|amount_in_cents|service_code|cnae|foreign_amount)\b/g, ''),
    ).not.toMatch(/\bDPS\b|\bIM\b|\bCNC\b|\bMAN\b|ISSQN|XML|namespace|[a-z][A-Z]|_/);
  });
});
