import type { ContentTable } from 'pdfmake/interfaces.js';
import { ABSENT, day, dayAndTime } from '../format.js';
import { cStat, finNFSe, labelOf, tpEmit } from '../labels.js';
import type { Note } from '../note.js';
import { block, type Cell, cell, strongField } from './grid.js';

/** Where anyone can look up the note: what the QR code says (NT 008, 2.4.4). */
export const consultationUrl = (accessKey: string): string =>
  `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${accessKey}`;

/** Keys, numbers and dates of the note, with the QR code on the right. */
export const identification = (note: Note): ContentTable =>
  block(
    [strongField('CHAVE DE ACESSO DA NFS-E', note.accessKey, 50, 3), qrCell(note)],
    [
      strongField('NÚMERO DA NFS-E', note.nNFSe, 13),
      strongField('COMPETÊNCIA DA NFS-E', day(note.dCompet), 10),
      strongField('DATA E HORA DA EMISSÃO DA NFS-E', dayAndTime(note.dhProc), 19),
      covered,
    ],
    [
      strongField('NÚMERO DA DPS', note.nDPS ?? ABSENT, 15),
      strongField('SÉRIE DA DPS', note.serie ?? ABSENT, 5),
      strongField('DATA E HORA DA EMISSÃO DA DPS', dayAndTime(note.dhEmi), 19),
      covered,
    ],
    [
      strongField('EMITENTE DA NFS-E', labelOf(tpEmit, note.tpEmit), 13, 1, true),
      strongField('SITUAÇÃO DA NFS-E', labelOf(cStat, note.cStat), 40),
      strongField('FINALIDADE', labelOf(finNFSe, note.finNFSe), 40),
      covered,
    ],
  );

/** 49 modules of 1 point, 17.3 mm: the least that pdfmake draws of at least 15.2 mm, and the hardest to damage. */
const QR_LEVEL = 'Q';

const qrCell = (note: Note): Cell => ({
  span: 1,
  content: {
    rowSpan: 4,
    stack: [
      { qr: consultationUrl(note.accessKey), eccLevel: QR_LEVEL, fit: 49, alignment: 'center', margin: [0, 2, 0, 4] },
      {
        text: [
          'A autenticidade desta NFS-e pode ser verificada',
          'pela leitura deste código QR ou pela consulta da',
          'chave de acesso no portal nacional da NFS-e',
        ].join('\n'),
        fontSize: 6,
        alignment: 'center',
      },
    ],
  },
});

/** Its place is taken by the QR code above. */
const covered: Cell = cell([]);
