import { type Cents, centsFromDecimal } from '../../domain/common/money.js';
import { attributeAt, nodeAt, nodesAt, textAt, textOf, type XmlParts, type XmlValue } from '../../xml/parse.js';

/** An element with children; paths begin below it. */
export type Group = {
  text(path: string): string | undefined;
  has(path: string): boolean;
  /** An amount in cents, or a percentage in hundredths; 0 when it is absent. */
  cents(path: string): Cents;
  /** The elements at `path`, which may repeat. */
  each(path: string): readonly Group[];
  /** The texts of the elements at `path`, which have no children. */
  texts(path: string): readonly string[];
};

/** A DPS that passed the schema; paths begin below `infDPS`. */
export type Dps = Group & {
  /** `DPS/@versao`. */
  version: string;
  /** `infDPS/@Id`. */
  id: string;
  /** CNPJ or CPF of the emitter; empty for an emitter without either, which always breaks a rule (E0112, E0114, E9996). */
  emitter: string;
  /** Identifier made from the fields of the DPS; differs from `id` in a faulty DPS (E0004). */
  derivedId: string;
  municipality: string;
  /** `dCompet`. */
  competence: string;
  /** `cTribNac`. */
  serviceCode: string;
  amountInCents: Cents;
  /** CNPJ or CPF of the customer. */
  customer: string | undefined;
};

/** Undefined when an element is missing that the schema requires; that cannot happen after validation and `tooLargeAmount`. */
export const readDps = (root: XmlParts): Dps | undefined => {
  const infDPS = nodeAt(root, 'DPS/infDPS');
  const group = groupOf(infDPS);
  const { text } = group;
  const id = attributeAt(root, 'DPS/infDPS', 'Id');
  const kind = emitterPath(infDPS);
  const cnpj = text(`${kind}/CNPJ`);
  const emitter = cnpj ?? text(`${kind}/CPF`) ?? '';
  const municipality = text('cLocEmi');
  const amountInCents = centsFromDecimal(text('valores/vServPrest/vServ') ?? '');
  if (id === undefined || municipality === undefined || amountInCents === undefined) return undefined;
  const serie = (text('serie') ?? '').padStart(5, '0');
  const nDPS = (text('nDPS') ?? '').padStart(15, '0');
  const inscription = `${cnpj === undefined ? '1' : '2'}${emitter.padStart(14, '0')}`;
  return {
    ...group,
    version: attributeAt(root, 'DPS', 'versao') ?? '',
    id,
    emitter,
    derivedId: `DPS${municipality}${inscription}${serie}${nDPS}`,
    municipality,
    competence: text('dCompet') ?? '',
    serviceCode: text('serv/cServ/cTribNac') ?? '',
    amountInCents,
    customer: text('toma/CNPJ') ?? text('toma/CPF'),
  };
};

/** Name of an element with an amount that the schema allows and no safe integer of cents holds; otherwise undefined. */
export const tooLargeAmount = (text: string): string | undefined =>
  [...text.matchAll(/<(v[A-Za-z]+)>([0-9]{14,15}(?:\.[0-9]{2})?)</g)].find(
    ([, , amount = '']) => centsFromDecimal(amount) === undefined,
  )?.[1];

/** Elements are kept by path, because some hundred rules ask for the same ones. */
const groupOf = (node: XmlValue | undefined): Group => {
  const found = new Map<string, XmlValue | undefined>();
  const at = (path: string): XmlValue | undefined => {
    if (!found.has(path)) found.set(path, nodeAt(node, path));
    return found.get(path);
  };
  const text = (path: string): string | undefined => textOf(at(path));
  return {
    text,
    has: (path) => at(path) !== undefined,
    cents: (path) => centsFromDecimal(text(path) ?? '') ?? 0,
    each: (path) => nodesAt(node, path).map(groupOf),
    texts: (path) => nodesAt(node, path).filter((value) => typeof value === 'string'),
  };
};

/** `tpEmit` names the emitter: 1 provider, 2 customer, 3 intermediary. */
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
