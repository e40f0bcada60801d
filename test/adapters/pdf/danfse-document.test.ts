import { describe, expect, it } from 'vitest';
import { danfsePage } from '../../../src/adapters/pdf/danfse.js';
import { layoutOf } from '../../../src/adapters/pdf/layout.js';
import { readNote } from '../../../src/adapters/pdf/read-note.js';
import type { PdfMarks } from '../../../src/ports/pdf.js';
import { itWith } from '../../support/needs.js';
import { fullXml } from './support/full-note.js';
import { alteredXml, marks, noteOf, noteXml } from './support/notes.js';
import { sampleNames, sampleXml } from './support/samples.js';

/** Every text, image name and QR code of the document definition. */
const drawn = (xml: Buffer, given: Partial<PdfMarks> = {}): string =>
  JSON.stringify(danfsePage(noteOf(xml), marks(given)).content);

describe('reading a note', () => {
  it('takes provider name and address from the issuer that the system adds', () => {
    const { provider } = noteOf(noteXml('reform'));
    expect(provider).toMatchObject({
      taxId: '12345678000195',
      xNome: 'EMPRESA FICTICIA LTDA',
      fone: '2100000000',
      address: { cMun: '3304557', CEP: '23095072', xBairro: 'CENTRO' },
    });
  });

  it('takes no issuer for the provider when the customer issued the note', () => {
    const { provider } = noteOf(alteredXml('reform', ['<tpEmit>1</tpEmit>', '<tpEmit>2</tpEmit>']));
    expect(provider.xNome).toBeUndefined();
  });

  it('reads notes of layout 1.00 too', () => {
    const older = noteXml('production').toString('utf8').replaceAll('versao="1.01"', 'versao="1.00"');
    expect(noteOf(Buffer.from(older)).accessKey).toHaveLength(50);
  });

  for (const name of sampleNames) {
    itWith('samples', `reads the official sample: ${name}`, () => {
      const note = noteOf(sampleXml(name));
      expect(note.accessKey).toHaveLength(50);
      expect(note.provider.taxId).toBe('12345678000195');
      expect(drawn(sampleXml(name))).toContain(note.accessKey);
    });
  }

  itWith('samples', 'takes provider name and address from the issuer of the official sample', () => {
    expect(noteOf(sampleXml('reform')).provider).toMatchObject({
      taxId: '12345678000195',
      xNome: 'EMPRESA FICTICIA LTDA',
      fone: '2100000000',
      address: { cMun: '3304557', CEP: '23095072', xBairro: 'CENTRO' },
    });
  });

  it.each([
    ['no XML', Buffer.from('nothing')],
    ['another document', Buffer.from('<DPS/>')],
    ['a note without number', alteredXml('production', ['<nNFSe>1467</nNFSe>', ''])],
    ['a note with a short key', alteredXml('production', ['Id="NFS2', 'Id="NFS'])],
  ])('refuses %s', (_name, xml) => {
    expect(readNote(xml)).toBeUndefined();
  });
});

describe('the document', () => {
  it('has the QR code of the public consultation', () => {
    expect(drawn(noteXml('production'))).toContain(
      '"qr":"https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=21113002212345678000195000000000146726037032711027"',
    );
  });

  it('keeps the order of blocks of NT 008', () => {
    const text = drawn(noteXml('reform'));
    const places = [
      'DANFSe v2.0',
      'CHAVE DE ACESSO',
      'PRESTADOR / FORNECEDOR',
      'TOMADOR / ADQUIRENTE',
      'O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO',
      'INTERMEDIÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
      'SERVIÇO PRESTADO',
      'TRIBUTAÇÃO MUNICIPAL (ISSQN)',
      'TRIBUTAÇÃO FEDERAL (EXCETO CBS)',
      'TRIBUTAÇÃO IBS / CBS',
      'VALOR TOTAL DA NFS-E',
      'INFORMAÇÕES COMPLEMENTARES',
    ].map((title) => text.indexOf(title));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('says that the customer is not identified', () => {
    const xml = noteXml('production').toString('utf8');
    const withoutCustomer = Buffer.from(xml.replace(/<toma>.*?<\/toma>/s, ''));
    expect(drawn(withoutCustomer)).toContain('TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e');
    expect(drawn(noteXml('production'))).not.toContain('TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO');
  });

  it('puts a line where the operation is not subject to the municipal tax', () => {
    const xml = alteredXml('production', ['<tribISSQN>1<', '<tribISSQN>4<']);
    expect(drawn(xml)).toContain('OPERAÇÃO NÃO SUJEITA AO ISSQN');
    expect(drawn(xml)).not.toContain('ISSQN Apurado');
  });

  it('names municipalities and describes codes', () => {
    const text = drawn(noteXml('production'));
    for (const shown of ['São José de Ribamar / MA', 'Operação tributável', 'Não Retido', 'NFS-e Gerada', 'Produção']) {
      expect(text).toContain(shown);
    }
  });

  it('has every block of Anexo I, without the reform too, and leaves out PIS/COFINS from 2027 on', () => {
    expect(drawn(noteXml('production'))).toContain('TRIBUTAÇÃO IBS / CBS');
    expect(drawn(noteXml('reform'))).toContain('PIS - Débito');
    const later = alteredXml('reform', ['<dCompet>2025-12-30<', '<dCompet>2027-01-01<']);
    expect(drawn(later)).not.toContain('PIS - Débito');
  });

  it('adds the key of the note that this one substitutes', () => {
    const key = '33045572212345678000195000000000014625124504258425';
    const subst = `<subst><chSubstda>${key}</chSubstda><cMotivo>1</cMotivo></subst><prest>`;
    expect(drawn(alteredXml('production', ['<prest>', subst]))).toContain(`NFS-e Subst.: ${key}`);
  });

  it.each([
    [{}, []],
    [{ canceled: true }, ['>CANCELADA<']],
    [{ replaced: true }, ['>SUBSTITUÍDA<']],
    [{ simulated: true }, ['>SIMULADO<', 'este documento não é documento fiscal']],
    [{ canceled: true, simulated: true }, ['>CANCELADA<', '>SIMULADO<', 'este documento não é documento fiscal']],
  ] satisfies [Partial<PdfMarks>, string[]][])('bears the marks of %j and no others', (given, expected) => {
    const text = drawn(noteXml('production'), given);
    const all = ['>CANCELADA<', '>SUBSTITUÍDA<', '>SIMULADO<', 'este documento não é documento fiscal'];
    expect(all.filter((mark) => text.includes(mark)).sort()).toEqual([...expected].sort());
  });

  it.each([
    [{}, 'DANFSe da NFS-e 1467'],
    [{ canceled: true }, 'DANFSe da NFS-e 1467 (CANCELADA)'],
    [{ replaced: true, simulated: true }, 'DANFSe da NFS-e 1467 (SUBSTITUÍDA, SIMULADO)'],
  ] satisfies [Partial<PdfMarks>, string][])('has a title that tells the marks of %j', (given, title) => {
    expect(danfsePage(noteOf(noteXml('production')), marks(given)).info.title).toBe(title);
  });

  it('warns in red and 9 points under the title of a note of the test environment only', () => {
    const texts = (name: 'reform' | 'production') => danfsePage(noteOf(noteXml(name)), marks()).content;
    const warning = { text: 'NFS-e SEM VALIDADE JURÍDICA', fontSize: 9, bold: true, color: '#FF0000' };
    expect(texts('reform')).toContainEqual(expect.objectContaining(warning));
    expect(drawn(noteXml('production'))).not.toContain(warning.text);
  });

  it('cuts the free text and not the key of the substituted note when both are too long', () => {
    const { texts } = layoutOf(noteOf(fullXml({ described: 2000, added: 2000 })), false);
    const text = texts.map((line) => line.text).join(' ');
    expect(text).toContain('NFS-e Subst.: 33045572212345678000195000000000014525124504258420');
    expect(text).toContain('Cod. Evt.: EVT-2026-77');
    expect(text).toMatch(/\.\.\. \| NFS-e Subst/);
  });

  it('leaves the municipality out for item 99 of the national codes', () => {
    expect(drawn(noteXml('production'))).toContain('Município: São Luís - MA');
    const outside = alteredXml('production', ['<cTribNac>250101<', '<cTribNac>990101<']);
    expect(drawn(outside)).not.toContain('Município: São Luís');
  });

  it('draws the words across the page in 50 points or more, of normal weight and grey', () => {
    const text = drawn(noteXml('production'), { canceled: true });
    expect(Number(/font-size=\\"(\d+)\\"/.exec(text)?.[1])).toBeGreaterThanOrEqual(50);
    expect(text).toContain('fill=\\"#A6A6A6\\"');
    expect(text).toContain('rotate(-50)');
    expect(text).not.toContain('font-weight');
  });

  it('gives up the canhoto before it cuts a text', () => {
    expect(drawn(fullXml({ described: 1300, added: 1500 }))).toContain('IDENTIFICAÇÃO E ASSINATURA');
    const longest = drawn(fullXml({ described: 1300, added: 2000 }));
    expect(longest).not.toContain('IDENTIFICAÇÃO E ASSINATURA');
    expect(longest).toContain('Totais Aproximados dos Tributos');
  });
});
