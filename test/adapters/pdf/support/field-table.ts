import { readFileSync } from 'node:fs';
import { danfseFieldsFile } from '../../../support/fixture/samples.js';

/** One row of the table of NT 008, 2.4.5; lengths in centimetres. Undefined where the row has no length. */
export type FieldRow = {
  bloco: string;
  campo: string;
  altura: number;
  largura: number;
  esquerda: number | undefined;
  superior: number;
};

/** The fields and blocks of NT 008, 2.4.5, for tests under `itWith('samples', ...)`. */
export const fieldTable = (): readonly FieldRow[] =>
  readFileSync(danfseFieldsFile, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const [bloco = '', campo = '', , , , altura, largura, esquerda, superior] = line.split('\t');
      return {
        bloco,
        campo,
        altura: Number(altura),
        largura: Number(largura),
        esquerda: esquerda === '' ? undefined : Number(esquerda),
        superior: Number(superior),
      };
    });
