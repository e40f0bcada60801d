import type { Address, Party, Provider, Recipient, Text } from './note.js';

/** Reads inside one element of the XML: text by path, and whether an element is there at all. */
export type Reader = { text(path: string): Text; has(path: string): boolean };

/** The parties of a note; `inf` reads under `infNFSe`. */
export const readProvider = (inf: Reader): Provider => {
  const prest = readParty(inf, 'DPS/infDPS/prest');
  // The DPS of a provider who issues its own note has no name or address: the system adds them in `emit`.
  const emit = inf.text('DPS/infDPS/tpEmit') === '1' ? readIssuer(inf) : undefined;
  return {
    taxId: prest?.taxId ?? emit?.taxId,
    NIF: prest?.NIF,
    IM: prest?.IM ?? emit?.IM,
    xNome: prest?.xNome ?? emit?.xNome,
    fone: prest?.fone ?? emit?.fone,
    email: prest?.email ?? emit?.email,
    address: prest?.address ?? emit?.address,
    opSimpNac: inf.text('DPS/infDPS/prest/regTrib/opSimpNac'),
    regApTribSN: inf.text('DPS/infDPS/prest/regTrib/regApTribSN'),
  };
};

export const readCustomer = (inf: Reader): Party | undefined => readParty(inf, 'DPS/infDPS/toma');

export const readIntermediary = (inf: Reader): Party | undefined => readParty(inf, 'DPS/infDPS/interm');

/** `indDest` 0 says that the recipient is the customer, which means something only when there is a customer. */
export const readRecipient = (inf: Reader): Recipient => {
  const party = readParty(inf, 'DPS/infDPS/IBSCBS/dest');
  if (party !== undefined) return { kind: 'other', party };
  const isCustomer = inf.text('DPS/infDPS/IBSCBS/indDest') === '0' && inf.has('DPS/infDPS/toma');
  return isCustomer ? { kind: 'customer' } : { kind: 'none' };
};

const readParty = (inf: Reader, path: string): Party | undefined =>
  inf.has(path) ? { ...readContact(inf, path), address: readAddress(inf, `${path}/end`) } : undefined;

const readIssuer = (inf: Reader): Party => ({
  ...readContact(inf, 'emit'),
  address: {
    cMun: inf.text('emit/enderNac/cMun'),
    CEP: inf.text('emit/enderNac/CEP'),
    abroad: undefined,
    ...readStreet(inf, 'emit/enderNac'),
  },
});

const readContact = (inf: Reader, path: string): Omit<Party, 'address'> => ({
  taxId: inf.text(`${path}/CNPJ`) ?? inf.text(`${path}/CPF`),
  NIF: inf.text(`${path}/NIF`),
  IM: inf.text(`${path}/IM`),
  xNome: inf.text(`${path}/xNome`),
  fone: inf.text(`${path}/fone`),
  email: inf.text(`${path}/email`),
});

const readAddress = (inf: Reader, path: string): Address | undefined => {
  if (!inf.has(path)) return undefined;
  return {
    cMun: inf.text(`${path}/endNac/cMun`),
    CEP: inf.text(`${path}/endNac/CEP`),
    abroad: inf.has(`${path}/endExt`)
      ? {
          xCidade: inf.text(`${path}/endExt/xCidade`),
          xEstProvReg: inf.text(`${path}/endExt/xEstProvReg`),
          cPais: inf.text(`${path}/endExt/cPais`),
          cEndPost: inf.text(`${path}/endExt/cEndPost`),
        }
      : undefined,
    ...readStreet(inf, path),
  };
};

const readStreet = (inf: Reader, path: string): Pick<Address, 'xLgr' | 'nro' | 'xCpl' | 'xBairro'> => ({
  xLgr: inf.text(`${path}/xLgr`),
  nro: inf.text(`${path}/nro`),
  xCpl: inf.text(`${path}/xCpl`),
  xBairro: inf.text(`${path}/xBairro`),
});
