import { type Canonical, element, field } from '../../xml/element.js';
import type { Dps } from '../rules/dps.js';

/**
 * The `emit` group. The real one copies the federal register; here the name is the signing certificate's and the address
 * is made up from the municipality. All upper case, as the register is.
 */
export const emit = (dps: Dps, holderName: string | undefined, uf: string): Canonical =>
  element(
    'emit',
    dps.emitter.length === 14 ? field('CNPJ', dps.emitter) : field('CPF', dps.emitter),
    field('IM', dps.text('prest/IM')),
    field('xNome', nameOf(holderName ?? `EMPRESA ${dps.emitter}`)),
    element(
      'enderNac',
      field('xLgr', 'RUA DO CADASTRO SIMULADO'),
      field('nro', '100'),
      field('xBairro', 'CENTRO'),
      field('cMun', dps.municipality),
      field('UF', uf),
      field('CEP', `${dps.municipality.slice(0, 5)}000`),
    ),
    field('fone', dps.text('prest/fone')),
    field('email', dps.text('prest/email')),
  );

const LONGEST_NAME = 150;

const nameOf = (name: string): string =>
  name
    .toUpperCase()
    .replace(/[^!-ÿ]+/g, ' ')
    .slice(0, LONGEST_NAME)
    .trim() || 'EMPRESA SEM NOME';
