import { expect, it } from 'vitest';
import { renderDanfse } from '../../../src/adapters/pdf/danfse.js';
import { describeWith } from '../../support/needs.js';
import { type FieldRow, fieldTable } from './support/field-table.js';
import { fullXml } from './support/full-note.js';
import { marks, noteOf } from './support/notes.js';
import { type Word, wordsOf } from './support/poppler.js';

/** Every block is there in full, and no text needs more room than the table gives it. */
const words = async (): Promise<readonly Word[]> =>
  wordsOf(await renderDanfse(noteOf(fullXml({ described: 100, added: 100 })), marks()));

/** Inset of a text in its box, in centimetres, as the table gives it for the logo and the QR code's caption. */
const INSET = 0.19;
const TOLERANCE = 0.05;

/** Names that the table spells otherwise than Anexo I. */
const SPELLING: Readonly<Record<string, string>> = {
  EMAIL: 'E-MAIL',
  'DESTINÁRIO DA OPERAÇÃO': 'DESTINATÁRIO DA OPERAÇÃO',
  'MUNICÍPIO / SIGLA UF / PAÍS DA INCIDÊNCIA DO ISSQN': 'MUNICÍPIO / SIGLA UF / PAÍS DE INCIDÊNCIA DO ISSQN',
  'EXCLUSÕES E REDUÇÕES DA BÁSE DE CLÁCULO': 'EXCLUSÕES E REDUÇÕES DA BASE DE CÁLCULO',
  'INDENTIFICAÇÃO E ASSINATURA': 'IDENTIFICAÇÃO E ASSINATURA',
  'DATA CIENTIFICAÇÃO': 'DATA CIENTIFICAÇÃO:',
};

/**
 * The table suggests places (2.4.5), Anexo I binds (2.2.4). These three would lie on a block's title or leave column 2
 * empty; Anexo I has them in these columns. The access key's text is in the lower part of its higher box.
 */
const PLACES_OF_ANEXO_I: Readonly<Record<string, Partial<FieldRow>>> = {
  'REGIME DE APURAÇÃO TRIBUTÁRIA PELO SN': { esquerda: 5.41 },
  'TIPO DE TRIBUTAÇÃO DO ISSQN': { esquerda: 5.41 },
  'MUNICÍPIO / SIGLA UF / PAÍS DA INCIDÊNCIA DO ISSQN': { esquerda: 10.51 },
  'CHAVE DE ACESSO DA NFS-E': { superior: 1.56 },
};

/** Fields without a label, or in the header; other tests check these. */
const WITHOUT_LABEL = [
  'MUNICÍPIO',
  'AMBIENTE GERADOR',
  'TIPO DE AMBIENTE',
  'DESCRIÇÃO DO CÓDIGO DE TRIBUTAÇÃO NACIONAL / MUNICIPAL',
  'INFORMAÇÕES COMPLEMENTARES',
];

const fields = (): readonly FieldRow[] =>
  fieldTable()
    .filter(({ campo }) => campo !== '(bloco)' && !WITHOUT_LABEL.includes(campo))
    .map((row) => ({ ...row, ...PLACES_OF_ANEXO_I[row.campo] }));

const titles = (): readonly FieldRow[] =>
  fieldTable()
    .filter(({ campo, bloco }) => campo === '(bloco)' && TITLED.test(bloco))
    .map((row) => ({ ...row, campo: row.bloco, esquerda: 0.3 }));

const TITLED = /^(PRESTADOR|TOMADOR|DEST|INTERM|SERV|TRIB|VALOR|INFORM)/;

const isAt = ({ left, top }: Place, row: FieldRow): boolean =>
  Math.abs(left - INSET - (row.esquerda ?? 0)) <= TOLERANCE && Math.abs(top - row.superior) <= TOLERANCE;

const upperCase = (page: readonly Word[]): readonly Word[] =>
  page.map((word) => ({ ...word, text: word.text.toLocaleUpperCase('pt-BR') }));

const labelOf = (campo: string): string => SPELLING[campo] ?? campo;

describeWith(['poppler', 'samples'], 'the places of NT 008, 2.4.5', () => {
  it('are those of every label and every title of a block, to half a millimetre', async () => {
    const page = upperCase(await words());
    const astray = [...fields(), ...titles()].filter(
      (row) => !placesOf(page, labelOf(row.campo).toLocaleUpperCase('pt-BR')).some((place) => isAt(place, row)),
    );
    expect(astray.map(({ bloco, campo }) => `${bloco}: ${campo}`)).toEqual([]);
    expect(fields()).toHaveLength(89);
  });

  it('have the content of each field on the line below its label', async () => {
    const page = await words();
    const empty = fields()
      .filter(({ bloco }) => !/CIENTIFICAÇÃO|ASSINATURA/.test(bloco))
      .filter((row) => {
        const left = (row.esquerda ?? 0) + INSET;
        return [0.275, 0.3, 0.31].every((gap) => textAt(page, { left, top: row.superior + gap }) === undefined);
      });
    expect(empty.map(({ bloco, campo }) => `${bloco}: ${campo}`)).toEqual([]);
  });

  it('have the header, the lines of the QR code and the unlabelled texts where the table has them', async () => {
    const page = await words();
    const place = (text: string): Place | undefined => placesOf(page, text)[0];
    expect(place('Município: Rio de Janeiro - RJ')).toMatchObject({ left: near(15.81), top: near(0.3) });
    expect(place('Ambiente Gerador: Sefin Nacional NFS-e')).toMatchObject({ left: near(15.81), top: near(0.97) });
    expect(place('Tipo de Ambiente: Homologação')).toMatchObject({ left: near(15.81), top: near(1.22) });
    expect(place('A autenticidade desta NFS-e pode ser verificada')).toMatchObject({
      left: near(15.8),
      top: near(3.36),
    });
    expect(place('pela leitura deste código QR ou pela consulta da')).toMatchObject({ left: near(15.8) });
    expect(place('chave de acesso no portal nacional da NFS-e')).toMatchObject({ left: near(15.8) });
    expect(place('Análise de sistemas.')).toMatchObject({ left: near(0.49), top: near(13.41) });
    expect(place('Inf. Cont.:')).toMatchObject({ left: near(0.49), top: near(22.7) });
  });

  it('hold when blocks are left out, since the description takes their room', async () => {
    const whole = await words();
    const reduced = wordsOf(await renderDanfse(noteOf(withoutOthers()), marks()));
    for (const text of ['TRIBUTAÇÃO MUNICIPAL (ISSQN)', 'VALOR TOTAL DA NFS-E', 'INFORMAÇÕES COMPLEMENTARES']) {
      expect(placesOf(reduced, text)).toEqual(placesOf(whole, text));
    }
  });
});

const near = (cm: number) => expect.closeTo(cm, 1);

const withoutOthers = (): Buffer => {
  const xml = fullXml({ described: 100, added: 100 }).toString('utf8');
  return Buffer.from(xml.replace(/<toma>.*<\/interm>/s, '').replace(/<dest>.*<\/dest>/s, ''));
};

/** Upper left corner of a text in centimetres. */
type Place = { left: number; top: number };

/** Everywhere that the words of `text` stand one after another on one line. */
const placesOf = (words: readonly Word[], text: string): readonly Place[] => {
  const wanted = text.split(' ');
  return words
    .filter((word) => word.text === wanted[0])
    .filter((first) => {
      const line = lineFrom(words, first);
      return wanted.every((each, index) => line[index]?.text === each);
    })
    .map(({ left, top }) => ({ left, top }));
};

/** The text of the line at `place`, up to the first gap that is wider than a space. */
const textAt = (words: readonly Word[], place: Place): string | undefined => {
  const first = words.find(({ left, top }) => Math.abs(left - place.left) < 0.05 && Math.abs(top - place.top) < 0.05);
  if (first === undefined) return undefined;
  const line = lineFrom(words, first);
  const end = line.findIndex((word, index) => index > 0 && word.left - (line[index - 1]?.right ?? 0) > 0.15);
  return line
    .slice(0, end < 0 ? undefined : end)
    .map((word) => word.text)
    .join(' ');
};

const lineFrom = (words: readonly Word[], first: Word): readonly Word[] =>
  words
    .filter(({ left, top }) => Math.abs(top - first.top) < 0.02 && left >= first.left)
    .toSorted((one, other) => one.left - other.left);
