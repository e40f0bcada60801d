import { type Cents, centsFromDecimal } from '../../domain/shared/money.js';
import { attributeAt, nodeAt, textAt, type XmlParts, type XmlValue } from '../../xml/parse.js';

/** A DPS that passed the schema, read by paths below `infDPS`. */
export type Dps = {
  /** `infDPS/@Id`. */
  id: string;
  /** CNPJ or CPF of the emitter. */
  emitter: string;
  /** Identifier as its fields make it; differs from `id` in a faulty DPS (E0004). */
  derivedId: string;
  municipality: string;
  amountInCents: Cents;
  /** CNPJ or CPF of the customer. */
  customer: string | undefined;
  text(path: string): string | undefined;
  has(path: string): boolean;
};

/** Undefined when an element that the schema demands is missing, which a validated DPS cannot be. */
export const readDps = (root: XmlParts): Dps | undefined => {
  const infDPS = nodeAt(root, 'DPS/infDPS');
  const text = (path: string) => textAt(infDPS, path);
  const id = attributeAt(root, 'DPS/infDPS', 'Id');
  const kind = emitterPath(infDPS);
  const cnpj = text(`${kind}/CNPJ`);
  const emitter = cnpj ?? text(`${kind}/CPF`);
  const municipality = text('cLocEmi');
  const amountInCents = centsFromDecimal(text('valores/vServPrest/vServ') ?? '');
  if (id === undefined || emitter === undefined || municipality === undefined || amountInCents === undefined) {
    return undefined;
  }
  const serie = (text('serie') ?? '').padStart(5, '0');
  const nDPS = (text('nDPS') ?? '').padStart(15, '0');
  const inscription = `${cnpj === undefined ? '1' : '2'}${emitter.padStart(14, '0')}`;
  return {
    id,
    emitter,
    derivedId: `DPS${municipality}${inscription}${serie}${nDPS}`,
    municipality,
    amountInCents,
    customer: text('toma/CNPJ') ?? text('toma/CPF'),
    text,
    has: (path) => nodeAt(infDPS, path) !== undefined,
  };
};

/** tpEmit says who emits: 1 the provider, 2 the customer, 3 the intermediary. */
const emitterPath = (infDPS: XmlValue | undefined): string => {
  switch (textAt(infDPS, 'tpEmit')) {
    case '2':
      return 'toma';
    case '3':
      return 'interm';
    default:
      return 'prest';
  }
};
