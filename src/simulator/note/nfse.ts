import { brasiliaStamp, type Instant } from '../../domain/shared/time.js';
import { type Canonical, elementWith, field } from '../../xml/element.js';
import type { Tables } from '../options.js';
import type { Dps } from '../rules/dps.js';
import { placeOfIncidence } from '../rules/incidence.js';
import { emit } from './emit.js';
import { ibscbs } from './ibscbs.js';
import { valores, valuesOf } from './values.js';

export type NfseParts = {
  dps: Dps;
  /** The signed DPS exactly as sent, from `<DPS` on. */
  dpsText: string;
  accessKey: string;
  number: number;
  /** Running number of the environment. */
  documentNumber: number;
  verAplic: string;
  processedAt: Instant;
  /** Percent with two places for who has ISSQN to compute. */
  defaultRate: string;
  /** From the signing certificate. */
  holderName: string | undefined;
  tables: Tables;
};

/** `infNFSe/@Id`. */
export const nfseId = (accessKey: string): string => `NFS${accessKey}`;

/** The unsigned NFS-e around a DPS, one line, without declaration (domain.md section 14). */
export const buildNfse = (parts: NfseParts): string => {
  const { dps, tables } = parts;
  const values = valuesOf(dps, parts.defaultRate);
  const nameOf = (ibge: string) => tables.municipality(ibge)?.name ?? 'Município não identificado';
  const cLocIncid = hasIncidence(dps) ? (placeOfIncidence(dps) ?? dps.municipality) : undefined;
  const place = dps.text('serv/locPrest/cLocPrestacao');
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
      field(
        'xTribNac',
        (tables.serviceCode(dps.serviceCode)?.description ?? dps.serviceCode).slice(0, LONGEST_DESCRIPTION),
      ),
      field('verAplic', parts.verAplic),
      field('ambGer', '2'),
      field('tpEmis', '1'),
      field('procEmi', '1'),
      field('cStat', dps.text('prest/regTrib/opSimpNac') === '2' ? '107' : '100'),
      field('dhProc', brasiliaStamp(parts.processedAt)),
      field('nDFSe', String(parts.documentNumber)),
      emit(dps, parts.holderName, tables.municipality(dps.municipality)?.uf ?? 'DF'),
      valores(values),
      ibscbs(dps, values, nameOf),
      verbatim(parts.dpsText),
    ),
  );
};

const LONGEST_DESCRIPTION = 600;

/** Immunity, export, no incidence, and the service outside the list have no place of incidence. */
const hasIncidence = (dps: Dps): boolean =>
  dps.text('valores/trib/tribMun/tribISSQN') === '1' && dps.serviceCode !== '990101';

/** What others signed is copied, not rewritten: it need not be canonical, so the NFS-e is canonicalized when signed. */
const verbatim = (dpsText: string): Canonical => dpsText as Canonical;
