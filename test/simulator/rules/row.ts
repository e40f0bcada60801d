import { brasiliaStamp, type Instant } from '../../../src/domain/common/time.js';
import { newAccessKey } from '../../../src/simulator/note/access-key.js';
import type { Tables } from '../../../src/simulator/options.js';
import { readDps } from '../../../src/simulator/rules/dps.js';
import { brokenRules } from '../../../src/simulator/rules/engine.js';
import { placeOfIncidence } from '../../../src/simulator/rules/incidence.js';
import type { Company, Municipality, Person } from '../../../src/simulator/state/entries.js';
import type { Note } from '../../../src/simulator/state/ledger.js';
import { classification } from '../../../src/tables/catalogue.js';
import { parseXml } from '../../../src/xml/document.js';
import {
  COMPANY,
  CUSTOMER,
  type DpsChanges,
  dpsXml,
  MEI,
  MONEY_TOT_TRIB,
  NORMAL,
  RIO,
  SIMPLES,
} from '../../support/harness/simulator.js';
import { schemaFaults } from '../../support/schema.js';

/** The entries that the control port made, and the notes in the ledger. */
type Setup = {
  municipalities?: Record<string, Municipality>;
  companies?: Record<string, Company>;
  persons?: Record<string, Person>;
  notes?: readonly { note: Note; events?: readonly string[]; isElsewhere?: boolean }[];
  now?: Instant;
};

/** A valid DPS changed in one place, and exactly the codes that the change must bring. */
export type Row = readonly [codes: readonly string[], changes: DpsChanges, setup?: Setup];

export const NOW: Instant = '2026-10-15T15:00:00.000Z';

export const NITEROI = '3303302';

export const CPF = '12345678909';

export const mei: DpsChanges = { regTrib: MEI, totTrib: '<indTotTrib>0</indTotTrib>' };
export const normal: DpsChanges = { regTrib: NORMAL, totTrib: MONEY_TOT_TRIB };
/** A company outside the Simples with a special regime. */
export const special: DpsChanges = { regTrib: NORMAL.replace('>0<', '>6<'), totTrib: MONEY_TOT_TRIB };
/** A ME/EPP whose ISSQN is outside the Simples. */
export const outside: DpsChanges = { regTrib: SIMPLES.replace('<regApTribSN>1', '<regApTribSN>2') };

/** Contents of tribMun: `between` comes before tpRetISSQN, `pAliq` after it. */
export const tribMun = (taxation: string, retention = '1', { between = '', pAliq = '' } = {}): string =>
  `<tribISSQN>${taxation}</tribISSQN>${between}<tpRetISSQN>${retention}</tpRetISSQN>` +
  (pAliq === '' ? '' : `<pAliq>${pAliq}</pAliq>`);

/** A service whose ISSQN is due in Niterói, and Niterói's convênio not active. */
export const inNiteroi: DpsChanges = { code: '070901', place: `<cLocPrestacao>${NITEROI}</cLocPrestacao>` };
export const niteroiInactive: Setup = { municipalities: { [NITEROI]: { adherent: false } } };

export const rio = (entry: Municipality): Setup => ({ municipalities: { [RIO]: entry } });

export const comExt = (changes: Partial<Record<string, string>> = {}): string => {
  const { mode = '1', provider = '01', customer = '01', goods = '1', records = '' } = changes;
  return (
    `<comExt><mdPrestacao>${mode}</mdPrestacao><vincPrest>0</vincPrest><tpMoeda>220</tpMoeda>` +
    `<vServMoeda>300.00</vServMoeda><mecAFComexP>${provider}</mecAFComexP><mecAFComexT>${customer}</mecAFComexT>` +
    `<movTempBens>${goods}</movTempBens>${records}<mdic>0</mdic></comExt>`
  );
};

/** Unsigned, by the emitter of these tests, in Rio. */
export const accessKey = (number = 7): string => newAccessKey({ municipality: RIO, emitter: COMPANY, number, at: NOW });

/** The note that `dpsXml` without changes would become, as it lies in the ledger. */
export const note = (changes: Partial<Note> = {}): Note => ({
  accessKey: accessKey(),
  dpsId: `DPS${RIO}2${COMPANY}00001000000000000007`,
  cnpj: COMPANY,
  number: 7,
  municipality: RIO,
  amountInCents: 1500_00,
  customer: CUSTOMER,
  subject: { competence: '2026-10-15', serviceCode: '010101', place: RIO },
  authorizedAt: NOW,
  ...changes,
});

const tables: Tables = {
  serviceCode: (code) => (code === '999999' ? undefined : { description: code }),
  nbs: (code) => (code === '115022000' ? { description: code } : undefined),
  municipality: (ibge) => ([RIO, NITEROI].includes(ibge) ? { name: 'Rio de Janeiro', uf: 'RJ' } : undefined),
  isForeignCountry: (code) => ['US', 'DE'].includes(code),
  classification,
};

/** Codes that a DPS breaks; throws when the schema refuses it, which would hide the rule. */
export const codesFor = (changes: DpsChanges, setup: Setup = {}): readonly string[] => {
  const xml = dpsXml({ now: () => NOW }, { dhEmi: brasiliaStamp(NOW), ...changes });
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${xml}`);
  const faults = schemaFaults('DPS', bytes);
  if (faults.length > 0) throw new Error(faults.join(' '));
  const parsed = parseXml(bytes);
  const dps = parsed.ok ? readDps(parsed.root) : undefined;
  if (dps === undefined) throw new Error('not a DPS');
  const municipality = (ibge: string): Municipality => setup.municipalities?.[ibge] ?? {};
  const company = (cnpj: string): Company => setup.companies?.[cnpj] ?? {};
  const held = (key: string) => setup.notes?.find((entry) => entry.note.accessKey === key);
  return brokenRules({
    dps,
    tpAmb: '2',
    now: setup.now ?? NOW,
    tables,
    registers: { municipality, company, person: (cpf) => setup.persons?.[cpf] ?? {} },
    notes: {
      note: (key) => (held(key)?.isElsewhere === true ? undefined : held(key)?.note),
      events: (key) => held(key)?.events ?? [],
      isElsewhere: (key) => held(key)?.isElsewhere === true,
    },
    municipality: municipality(dps.municipality),
    incidence: municipality(placeOfIncidence(dps) ?? ''),
    company: company(dps.emitter),
  }).map(({ code }) => code);
};
