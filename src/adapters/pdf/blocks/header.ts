import type { Content, ContentTable } from 'pdfmake/interfaces.js';
import { ABSENT, shortened } from '../format.js';
import { ambGer, labelOf, tpAmb } from '../labels.js';
import type { Note } from '../note.js';
import { block, cell } from './grid.js';

/** Logo, title with the warnings of notes that are worth nothing, and who issued where (NT 008, 2.4.3). */
export const header = (note: Note, simulated: boolean): ContentTable =>
  block([
    cell([{ image: 'logo', width: 113, margin: [0, 4, 0, 2] }], 1, true),
    cell([...title, ...warnings(note, simulated)], 2, true),
    cell(
      [
        { text: shortened(`${note.xLocEmi ?? ABSENT} - ${note.UF ?? ABSENT}`, 37), fontSize: 8 },
        { text: `Ambiente Gerador: ${labelOf(ambGer, note.ambGer)}`, fontSize: 6 },
        { text: `Tipo de Ambiente: ${labelOf(tpAmb, note.tpAmb)}`, fontSize: 6 },
      ],
      1,
      true,
    ),
  ]);

const title: Content[] = [
  { text: 'DANFSe v2.0', style: 'heading' },
  { text: 'Documento Auxiliar da NFS-e', style: 'heading' },
];

const warnings = (note: Note, simulated: boolean): Content[] => [
  ...(note.tpAmb === '1' ? [] : [warning('NFS-e SEM VALIDADE JURÍDICA')]),
  ...(simulated ? [warning('Gerado por um SIMULADOR: este documento não é documento fiscal')] : []),
];

const warning = (text: string): Content => ({ text, style: 'heading', color: 'red' });
