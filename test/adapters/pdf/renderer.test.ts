import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { describeWith, itWith } from '../../support/needs.js';
import { openRenderer } from './support/drawing.js';
import { alteredXml, marks, noteXml } from './support/notes.js';
import { infoOf, lettersOf, textOf } from './support/poppler.js';
import { sampleNames, sampleXml } from './support/samples.js';

const renderer = openRenderer({ workers: 1, timeoutMs: 240_000 });

afterAll(() => renderer.close());

describe('the renderer', () => {
  it('draws one document for those who ask at the same moment, and others with other marks', async () => {
    const [first, second, marked] = await Promise.all([
      renderer.render(noteXml('production'), marks()),
      renderer.render(noteXml('production'), marks()),
      renderer.render(noteXml('production'), marks({ canceled: true })),
    ]);
    expect(second).toBe(first);
    expect(marked.equals(first)).toBe(false);
  });

  it('keeps no document, and draws the same bytes again after another note', async () => {
    const first = await renderer.render(noteXml('production'), marks());
    await renderer.render(noteXml('exported'), marks());
    const again = await renderer.render(noteXml('production'), marks());
    expect(again).not.toBe(first);
    expect(again.equals(first)).toBe(true);
  });

  it('does not block the event loop while it draws', async () => {
    let drawing = true;
    let turns = 0;
    const count = () => {
      turns += 1;
      if (drawing) setImmediate(count);
    };
    setImmediate(count);
    await renderer.render(alteredXml('production', ['Mensalidade', 'Anuidade']), marks());
    drawing = false;
    // Drawn on this thread, the whole layout would be one turn.
    expect(turns).toBeGreaterThan(20);
  });

  it.skipIf(process.platform !== 'linux')(
    'has a lower priority than the thread that answers clients, on Linux',
    async () => {
      await renderer.render(noteXml('production'), marks());
      const statOf = (thread: string | number): string => {
        try {
          return readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
        } catch {
          // A thread of another test may have ended since the list was read.
          return '';
        }
      };
      const niceOf = (thread: string | number): number =>
        // What follows the name, which may hold blanks; the field is the 19th of all (proc(5)).
        Number(statOf(thread).split(') ').at(-1)?.split(' ')[16]);
      expect(niceOf(process.pid)).toBe(getPriority());
      expect(readdirSync('/proc/self/task').map(niceOf)).toContain(2);
    },
  );

  it('does not take the XML away from its caller', async () => {
    const xml = noteXml('production');
    await renderer.render(xml, marks());
    expect(xml.equals(noteXml('production'))).toBe(true);
  });

  it('refuses what is not a note, without quoting it', async () => {
    const failure = await renderer.render(Buffer.from('<secret/>'), marks()).catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'PdfFailed', reason: 'not_a_note' });
    expect(String(failure)).not.toContain('secret');
  });
});

describeWith('poppler', 'the PDF as poppler reads it', () => {
  const showsAll = async (xml: Buffer): Promise<void> => {
    const text = textOf(await renderer.render(xml, marks()));
    for (const shown of [
      '33045572212345678000195000000000014625124504258425',
      '30/12/2025 19:01:35',
      '12.345.678/0001-95',
      'FICTICIA & FILHOS',
      'R$ 10.000,00',
      'R$ 9.385,00',
      'R$ 78,66',
      'R$ 1.260,00',
      'NFS-e SEM VALIDADE JURÍDICA',
      'Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: R$ 760,00; Estaduais: R$ 0,00; Municipais: R$ 500,00',
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).toMatch(/NÚMERO DA NFS-E.*\n\s*146\s/);
  };

  it('shows key, number, dates, parties and amounts', () => showsAll(noteXml('reform')));

  itWith('samples', 'shows them of the official sample too', () => showsAll(sampleXml('reform')));

  for (const name of sampleNames) {
    itWith('samples', `fits the official sample on one page: ${name}`, async () => {
      expect(infoOf(await renderer.render(sampleXml(name), marks()), 'Pages')).toBe('1');
    });
  }

  it('has a title, the date of the note and one A4 page', async () => {
    const pdf = await renderer.render(noteXml('exported'), marks());
    expect(infoOf(pdf, 'Title')).toBe('DANFSe da NFS-e 148');
    expect(infoOf(pdf, 'Pages')).toBe('1');
    expect(infoOf(pdf, 'Page size')).toContain('A4');
    expect(pdf.toString('latin1')).toContain('D:20260828173708Z');
    expect(pdf.toString('latin1')).toContain('/Lang (pt-BR)');
  });

  it.each([
    ['CANCELADA', marks({ canceled: true })],
    ['SUBSTITUÍDA', marks({ replaced: true })],
    ['SIMULADO', marks({ simulated: true })],
  ] as const)('bears %s across the page', async (word, given) => {
    // Not the word SIMULADOR, which the header says too.
    const alone = new RegExp(`${word}(?!R)`);
    expect(lettersOf(await renderer.render(noteXml('production'), given))).toMatch(alone);
    expect(lettersOf(await renderer.render(noteXml('production'), marks()))).not.toMatch(alone);
  });

  it('writes a name of many lines as one paragraph', async () => {
    const xml = alteredXml('exported', ['ACME SOFTWARE CLIENT LLC', 'ACME\nSOFTWARE\r\nCLIENT']);
    expect(textOf(await renderer.render(xml, marks()))).toContain('ACME SOFTWARE CLIENT');
  });

  it('keeps accents and foreign letters', async () => {
    const xml = alteredXml('exported', ['ACME SOFTWARE CLIENT LLC', 'Žluťoučký Łódź Ørsted Ñandú Groß']);
    expect(textOf(await renderer.render(xml, marks()))).toContain('Žluťoučký Łódź Ørsted Ñandú Groß');
  });

  it.each([
    ['wide letters', 'W'.repeat(2000)],
    ['lines', 'a\n'.repeat(1000)],
    ['words', 'lorem ipsum dolor '.repeat(111)],
  ])('fits %s of the greatest length on one page, the last line included', async (_name, text) => {
    const person = (tag: string) =>
      `<${tag}><CNPJ>12345678000195</CNPJ><xNome>${'W'.repeat(300)}</xNome><end><endNac><cMun>3303302</cMun><CEP>24020077</CEP></endNac><xLgr>${'W'.repeat(255)}</xLgr><nro>${'9'.repeat(60)}</nro><xCpl>${'W'.repeat(156)}</xCpl><xBairro>${'W'.repeat(60)}</xBairro></end><email>${'w'.repeat(80)}</email></${tag}>`;
    const xml = alteredXml(
      'reform',
      ['Desenvolvimento de sistemas', text],
      ['<xTribMun>Análise de sistemas.', `<xTribMun>${'W'.repeat(600)}`],
      ['<serv>', `${person('interm')}<serv>`],
      ['</cServ>', `</cServ><infoCompl><xInfComp>${text}</xInfComp></infoCompl>`],
      ['<indDest>0</indDest>', `<indDest>1</indDest>${person('dest')}`],
      ['FICTICIA &amp; FILHOS', 'W'.repeat(300)],
    );
    const pdf = await renderer.render(xml, marks({ simulated: true }));
    expect(infoOf(pdf, 'Pages')).toBe('1');
    expect(textOf(pdf)).toContain('Municipais: R$ 500,00');
    expect(textOf(pdf)).toContain('...');
  });
});
