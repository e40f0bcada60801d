import { type Canonical, element, elementWith, field } from '../../domain/common/canonical-xml.js';
import { brasiliaStamp, type Instant } from '../../domain/common/time.js';
import type { Tables } from '../options.js';
import type { Dps } from '../rules/dps.js';
import { isMei, isTaxable } from '../rules/facts.js';
import { placeOfIncidence } from '../rules/incidence.js';
import { ibscbs } from './ibscbs.js';
import { valores, valuesOf } from './values.js';

type NfseParts = {
  dps: Dps;
  /** The signed DPS as sent, from `<DPS` on. */
  dpsText: string;
  accessKey: string;
  number: number;
  /** Running number of the environment. */
  documentNumber: number;
  verAplic: string;
  processedAt: Instant;
  /** Rate of the ISSQN in percent, with two places, for a DPS that declares none. */
  defaultRate: string;
  /** Name in the signing certificate. */
  holderName: string | undefined;
  tables: Tables;
};

/** `infNFSe/@Id`. */
export const nfseId = (accessKey: string): string => `NFS${accessKey}`;

/** The unsigned NFS-e around a DPS: one line, without a declaration (docs/national-system.md#authorized-note). */
export const buildNfse = (parts: NfseParts): string => {
  const { dps, tables } = parts;
  const values = valuesOf(dps, parts.defaultRate);
  const nameOf = (ibge: string) => tables.municipality(ibge)?.name ?? 'Município não identificado';
  const cLocIncid = hasIncidence(dps) ? (placeOfIncidence(dps) ?? dps.municipality) : undefined;
  const place = dps.text('serv/locPrest/cLocPrestacao');
  // The texts of municipal codes are in the municipality's own table, which the simulator does not have.
  const municipalCode = dps.text('serv/cServ/cTribMun');
  const nbs = dps.text('serv/cServ/cNBS');
  return elementWith(
    'NFSe',
    { xmlns: 'http://www.sped.fazenda.gov.br/nfse', versao: '1.01' },
    elementWith(
      'infNFSe',
      { Id: nfseId(parts.accessKey) },
      field('xLocEmi', nameOf(dps.municipality)),
      field('xLocPrestacao', place === undefined ? 'Exterior' : nameOf(place)),
      field('nNFSe', String(parts.number)),
      field('cLocIncid', cLocIncid),
      field('xLocIncid', cLocIncid && nameOf(cLocIncid)),
      field('xTribNac', described(tables.serviceCode(dps.serviceCode), dps.serviceCode)),
      field('xTribMun', municipalCode && `Código municipal ${municipalCode}`),
      field('xNBS', nbs && described(tables.nbs(nbs), nbs)),
      field('verAplic', parts.verAplic),
      field('ambGer', '2'),
      field('tpEmis', '1'),
      field('procEmi', '1'),
      field('cStat', isMei({ dps }) ? '107' : '100'),
      field('dhProc', brasiliaStamp(parts.processedAt)),
      field('nDFSe', String(parts.documentNumber)),
      emit(dps, parts.holderName, tables.municipality(dps.municipality)?.uf ?? 'DF'),
      valores(values),
      ibscbs(dps, values, tables, nameOf),
      // Byte for byte: it may not be canonical, and the signature canonicalizes the whole NFS-e.
      parts.dpsText as Canonical,
    ),
  );
};

const LONGEST_DESCRIPTION = 600;

/** The text of a code, or the code where a table has none. */
const described = (entry: { description: string } | undefined, code: string): string =>
  (entry?.description || code).slice(0, LONGEST_DESCRIPTION).trimEnd();

/** False for immunity, export, non-incidence and the service outside the list (99.01.01), which have no place of incidence. */
const hasIncidence = (dps: Dps): boolean => isTaxable({ dps }) && dps.serviceCode !== '990101';

/**
 * The `emit` group. Sefin copies the federal register, which is in upper case; here the name comes from the signing certificate, and the
 * address is invented for the municipality.
 */
const emit = (dps: Dps, holderName: string | undefined, uf: string): Canonical =>
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
