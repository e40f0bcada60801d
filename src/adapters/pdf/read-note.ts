import { isUtf8 } from 'node:buffer';
import anyAscii from 'any-ascii';
import { present } from '../../domain/common/present.js';
import { refusedUnparsed } from '../../xml/bounds.js';
import { attributeAt, nodeAt, nodesAt, parseWellFormed, textAt, type XmlParts } from '../../xml/parse.js';
import { listed } from './format.js';
import {
  ABROAD,
  type Address,
  type ApproximateTaxes,
  COMPLEMENT,
  COMPLEMENT_100,
  CONTACT,
  FEDERAL,
  HEAD,
  IBS_CBS,
  IN_BRAZIL,
  ISSQN,
  type Note,
  type Party,
  type Paths,
  REGIME,
  type Recipient,
  SERVICE,
  SITES,
  STREET,
  type Text,
  type Texts,
  TOTALS,
} from './note.js';
import { hasGlyph } from './text-width.js';

/**
 * What the DANFSe shows of an authorized NFS-e that libxml2 read when the note came; this thread starts faster without libxml2. Undefined for XML
 * without access key, number or a valid `dhProc`, which every NFS-e has. Everything else may be absent.
 */
export const readNote = (nfseXml: Buffer): Note | undefined => {
  if (refusedUnparsed(nfseXml) !== undefined || !isUtf8(nfseXml)) return undefined;
  const parsed = parseWellFormed(nfseXml);
  if (!parsed.ok) return undefined;
  const inf = readerOf(parsed.root);
  const accessKey = /^NFS([0-9A-Z]{50})$/.exec(attributeAt(parsed.root, INF, 'Id') ?? '')?.[1];
  const head = inf.all(HEAD);
  const { nNFSe, dhProc } = head;
  if (accessKey === undefined || nNFSe === undefined || dhProc === undefined || Number.isNaN(Date.parse(dhProc))) {
    return undefined;
  }
  const hasIbsCbs = inf.has('IBSCBS') || inf.has('DPS/infDPS/IBSCBS');
  return {
    ...head,
    accessKey,
    versao: attributeAt(parsed.root, `${INF}/DPS`, 'versao') ?? attributeAt(parsed.root, 'NFSe', 'versao'),
    nNFSe,
    dhProc,
    provider: readProvider(inf),
    customer: readParty(inf, 'DPS/infDPS/toma'),
    recipient: readRecipient(inf),
    intermediary: readParty(inf, 'DPS/infDPS/interm'),
    service: inf.all(SERVICE),
    issqn: inf.all(ISSQN),
    federal: inf.all(FEDERAL),
    ibsCbs: hasIbsCbs ? inf.all(IBS_CBS) : undefined,
    totals: inf.all(TOTALS),
    complement: {
      ...inf.all(COMPLEMENT),
      ...present(inf.all(COMPLEMENT_100)),
      inscImobFisc: allOf(inf.text(`${SITES.obra}/inscImobFisc`), inf.text(`${SITES.imovel}/inscImobFisc`)),
      addresses: {
        obra: addressAt(inf, SITES.obra),
        imovel: addressAt(inf, SITES.imovel),
        atvEvento: addressAt(inf, SITES.atvEvento),
      },
      xItemPed: inf.list('DPS/infDPS/serv/infoCompl/gItemPed/xItemPed'),
      approximateTaxes: readApproximateTaxes(inf),
    },
  };
};

const INF = 'NFSe/infNFSe';

/** Reads below `infNFSe`: one text, all texts of a table (below `parent`, when given), the texts of a list, and whether an element is present. */
type XmlReader = {
  text(path: string): Text;
  all<P extends Paths>(paths: P, parent?: string): Texts<P>;
  list(path: string): readonly string[];
  has(path: string): boolean;
};

const readerOf = (root: XmlParts): XmlReader => {
  const text = (path: string): Text => printableText(textAt(root, `${INF}/${path}`));
  return {
    text,
    all: <P extends Paths>(paths: P, parent?: string) =>
      Object.fromEntries(
        Object.entries(paths).map(([field, path]) => [field, text(parent === undefined ? path : `${parent}/${path}`)]),
      ) as Texts<P>,
    list: (path) =>
      nodesAt(root, `${INF}/${path}`).flatMap((item) => (typeof item === 'string' ? (printableText(item) ?? []) : [])),
    has: (path) => nodeAt(root, `${INF}/${path}`) !== undefined,
  };
};

/**
 * The text as it is printed. Letters are composed with their accents, because the font has glyphs for the composed characters. Further accents
 * would reach into the line above and are dropped. So are invisible characters, which take room and may turn the direction of the text after them.
 * Letters of scripts that the font lacks are written in Latin letters.
 */
const printableText = (text: Text): Text =>
  text
    ?.replace(ACCENTED, (_all, letter: string) => letter.normalize('NFC'))
    .replace(INVISIBLE, '')
    .replace(BEYOND_LATIN, readable)
    .trim() || undefined;

/** Normalized letter by letter, because a text of accents alone takes minutes to normalize. */
const ACCENTED = /(\P{M}\p{M}{1,2})\p{M}*/gu;

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Letters, marks, digits and punctuation beyond Latin, word by word. Symbols such as emoji are no part of a name. */
const BEYOND_LATIN = /(?:(?=[\p{L}\p{M}\p{N}\p{P}])[\u0250-\u{10ffff}])+/gu;

/**
 * The word where the font has all of it, otherwise its Latin spelling, so that a name can be read; the XML keeps its script. Hebrew is spelled too: the
 * page is laid out from the left, which puts the spaces and brackets of Hebrew on the wrong side.
 */
const readable = (word: string): string =>
  Array.from(word).every(hasGlyph) && !HEBREW.test(word) ? word : anyAscii(word) || word;

const HEBREW = /\p{Script=Hebrew}/u;

const allOf = (...texts: readonly Text[]): Text => listed(...new Set(texts));

const readApproximateTaxes = (inf: XmlReader): ApproximateTaxes => {
  const path = 'DPS/infDPS/valores/trib/totTrib';
  const three = (group: string) =>
    inf.all({ federal: `${group}Fed`, state: `${group}Est`, municipal: `${group}Mun` }, `${path}/${group}`);
  const pTotTribSN = inf.text(`${path}/pTotTribSN`);
  if (inf.has(`${path}/vTotTrib`)) return { kind: 'amounts', ...three('vTotTrib') };
  if (inf.has(`${path}/pTotTrib`)) return { kind: 'percentages', ...three('pTotTrib') };
  return pTotTribSN === undefined ? { kind: 'none' } : { kind: 'simples', pTotTribSN };
};

const readProvider = (inf: XmlReader): Note['provider'] => {
  const prest = partyAt(inf, 'DPS/infDPS/prest');
  // A provider that issues its own note has no name or address in the DPS; the authorizer adds them in `emit`.
  const known =
    inf.text('DPS/infDPS/tpEmit') === '1'
      ? { ...partyAt(inf, 'emit', 'emit/enderNac', 'emit/enderNac'), ...present(prest) }
      : prest;
  return { ...known, ...inf.all(REGIME) };
};

/** `indDest` 0 says that the recipient is the customer, which has a meaning only when there is a customer. */
const readRecipient = (inf: XmlReader): Recipient => {
  const party = readParty(inf, 'DPS/infDPS/IBSCBS/dest');
  if (party !== undefined) return { kind: 'other', party };
  const isCustomer = inf.text('DPS/infDPS/IBSCBS/indDest') === '0' && inf.has('DPS/infDPS/toma');
  return isCustomer ? { kind: 'customer' } : { kind: 'none' };
};

const readParty = (inf: XmlReader, path: string): Party | undefined => (inf.has(path) ? partyAt(inf, path) : undefined);

/** `brazilian` is the element of city and CEP. */
const partyAt = (inf: XmlReader, path: string, address = `${path}/end`, brazilian = `${address}/endNac`): Party => ({
  ...inf.all(CONTACT, path),
  taxId: inf.text(`${path}/CNPJ`) ?? inf.text(`${path}/CPF`),
  address: readAddress(inf, address, brazilian),
});

/** The address of a work, a property or an event, which has the CEP beside the street and no city of Brazil. */
const addressAt = (inf: XmlReader, site: string): Address | undefined => readAddress(inf, `${site}/end`, `${site}/end`);

const readAddress = (inf: XmlReader, path: string, brazilian: string): Address | undefined =>
  inf.has(path)
    ? {
        ...inf.all(STREET, path),
        ...inf.all(IN_BRAZIL, brazilian),
        abroad: inf.has(`${path}/endExt`) ? inf.all(ABROAD, `${path}/endExt`) : undefined,
      }
    : undefined;
