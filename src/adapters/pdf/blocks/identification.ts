import { ABSENT, day, dayAndTime } from '../format.js';
import { cStat, finNFSe, labelOf, tpEmit } from '../labels.js';
import type { Note } from '../note.js';
import type { PlacedText } from '../sheet.js';
import { type Block, paragraph, strongField } from './grid.js';

/** Where anyone can look up the note: what the QR code says (NT 008, 2.4.3). */
export const consultationUrl = (accessKey: string): string =>
  `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${accessKey}`;

/** Keys, numbers and dates of the note, left of the QR code. */
export const identification = (note: Note): Block => ({
  top: 1.48,
  end: 4.34,
  rows: [
    // Its box begins at 1.48 and is higher than the others; Anexo I has the text in its lower part.
    { top: 1.55, height: 0.7, cells: [strongField(1, 'CHAVE DE ACESSO DA NFS-E', note.accessKey, 50, { span: 3 })] },
    {
      top: 2.27,
      height: 0.67,
      cells: [
        strongField(1, 'NÚMERO DA NFS-E', note.nNFSe, 13),
        strongField(2, 'COMPETÊNCIA DA NFS-E', day(note.dCompet), 10),
        strongField(3, 'DATA E HORA DA EMISSÃO DA NFS-E', dayAndTime(note.dhProc), 19),
      ],
    },
    {
      top: 2.96,
      height: 0.67,
      cells: [
        strongField(1, 'NÚMERO DA DPS', note.nDPS ?? ABSENT, 15),
        strongField(2, 'SÉRIE DA DPS', note.serie ?? ABSENT, 5),
        strongField(3, 'DATA E HORA DA EMISSÃO DA DPS', dayAndTime(note.dhEmi), 19),
      ],
    },
    {
      top: 3.65,
      height: 0.67,
      cells: [
        strongField(1, 'EMITENTE DA NFS-e', labelOf(tpEmit, note.tpEmit), 13, { shaded: true }),
        strongField(2, 'SITUAÇÃO DA NFS-e', labelOf(cStat, note.cStat), 40),
        strongField(3, 'FINALIDADE', labelOf(finNFSe, note.finNFSe), 40),
      ],
    },
  ],
});

/** Centimetres (NT 008, 2.4.3). */
export const QR = { left: 17.48, top: 1.67 };

/** What stands below the QR code, in the three lines of NT 008. */
export const qrCaption = (): PlacedText[] =>
  paragraph(
    [
      'A autenticidade desta NFS-e pode ser verificada',
      'pela leitura deste código QR ou pela consulta da',
      'chave de acesso no portal nacional da NFS-e',
    ],
    { left: 15.8, top: 3.36 },
    { size: 6 },
  );
