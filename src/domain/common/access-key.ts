import type { Branded } from './brand.js';
import { modulo11Digit } from './cnpj.js';
import type { CompanyId } from './ids.js';

/** The 50 characters that name an NFS-e. */
export type AccessKey = Branded<string, 'access key'>;

/** The 45 characters that name a DPS: `infDPS/@Id`. */
export type DpsId = Branded<string, 'DPS id'>;

/** What identifies a DPS at the authorizer (docs/national-system.md#dps-id). `municipality` is the emitter's IBGE code, 7 digits. */
type DpsIdentity = { municipality: string; cnpj: CompanyId; series: string; number: number };

/** The 45-character `infDPS/@Id`. Series and number are padded only here; `2` says that a CNPJ follows. */
export const dpsId = ({ municipality, cnpj, series, number }: DpsIdentity): DpsId => {
  if (!Number.isSafeInteger(number) || number < 1) throw new Error('a DPS number is a whole number from 1 on');
  const id = `DPS${municipality}${afterMunicipality({ cnpj, series, number })}`;
  if (!DPS_ID.test(id)) throw new Error('the parts do not make a DPS id');
  return id;
};

const afterMunicipality = ({ cnpj, series, number }: Omit<DpsIdentity, 'municipality'>): string =>
  `2${cnpj}${series.padStart(5, '0')}${String(number).padStart(15, '0')}`;

/** Whether the DPS id names this emitter, series and number, in whatever municipality. */
export const isDpsIdOf = (id: string, parts: Omit<DpsIdentity, 'municipality'>): boolean =>
  id.slice('DPS'.length + 7) === afterMunicipality(parts);

/** The emitter's CNPJ in a DPS id. */
export const emitterOfDps = (dpsId: DpsId): string => dpsId.slice(11, 25);

/**
 * Check digit of an access key over its first 49 characters (docs/national-system.md#check-digit): modulo 11, weights 2 to 9 from the right,
 * remainders 0 and 1 give 0; a letter of an alphanumeric CNPJ counts as its ASCII code minus 48.
 */
export const accessKeyCheckDigit = (first49: string): string => {
  if (first49.length !== KEY_LENGTH - 1) throw new Error('the check digit is made from 49 characters');
  return modulo11Digit(first49, 9);
};

/** Checks shape and check digit. The XSD's pattern misplaces the alphanumeric part and is not used (docs/national-system.md#access-key). */
export const isAccessKey = (value: string): value is AccessKey =>
  ACCESS_KEY.test(value) && accessKeyCheckDigit(value.slice(0, -1)) === value.slice(-1);

/** The provider's CNPJ in an access key. */
export const providerOfKey = (accessKey: AccessKey): string => accessKey.slice(9, 23);

/** Whether the key names the emitter of the DPS: municipality, kind of inscription, inscription (docs/national-system.md#access-key). */
export const isKeyOfEmitter = (accessKey: AccessKey, dpsId: DpsId): boolean =>
  accessKey.slice(0, 7) + accessKey.slice(8, 23) === dpsId.slice('DPS'.length, 'DPS'.length + 22);

/** The IBGE code of the emitter's municipality in an access key. */
export const municipalityOfKey = (accessKey: AccessKey): string => accessKey.slice(0, 7);

/** The number of the NFS-e in an access key, without leading zeros: what `nNFSe` holds (docs/national-system.md#access-key). */
export const numberOfKey = (accessKey: AccessKey): string => accessKey.slice(23, 36).replace(/^0+(?=.)/, '');

/** Whether a municipality's own system made the note (`ambGer` 1), which then registers the note's events too. */
export const isMadeByMunicipality = (accessKey: AccessKey): boolean => accessKey[7] === '1';

/**
 * Whether Sefin may cancel the note at this provider's request: the key is that of the provider (E0813), and no system of a municipality made the
 * note (E0831).
 */
export const isCanceledAtSefin = (accessKey: AccessKey, provider: CompanyId): boolean =>
  providerOfKey(accessKey) === provider && !isMadeByMunicipality(accessKey);

/** The same of the key of an import, which may have a wrong check digit: Sefin has no note under it (E1831). */
export const isImportCanceledAtSefin = (accessKey: AccessKey, provider: CompanyId): boolean =>
  isAccessKey(accessKey) && isCanceledAtSefin(accessKey, provider);

/** `pedRegEvento` id of a cancellation. There is one per note, so every attempt carries the same id. */
export const cancellationRequestId = (accessKey: AccessKey): string => eventRequestId(accessKey, CANCELLATION_EVENT);

export const eventRequestId = (accessKey: AccessKey, eventType: string): string => `PRE${accessKey}${eventType}`;

/** Code of the cancellation event, e101101. */
export const CANCELLATION_EVENT = '101101';

/** Code of the cancellation by substitution, e105102: another note replaces this one. */
export const SUBSTITUTION_EVENT = '105102';

/**
 * The events after which a note is no longer valid: cancellation by its emitter, by substitution, granted after a fiscal analysis, ex officio. Each
 * bars all others, so a note has at most one of them (docs/national-system.md#matrix).
 */
export const cancelingEvents = [CANCELLATION_EVENT, SUBSTITUTION_EVENT, '105104', '305101'] as const;

export type CancelingEvent = (typeof cancelingEvents)[number];

const KEY_LENGTH = 50;

const DPS_ID = /^DPS[0-9]{7}2[0-9A-Z]{14}[0-9]{20}$/;

/** Municipality and generator, kind of inscription, inscription, then number, year and month, random part, and check digit. */
const ACCESS_KEY = /^[0-9]{7}[12][12][0-9A-Z]{14}[0-9]{27}$/;
