import { COMPANY, CUSTOMER, party, RIO } from '../../../support/harness/simulator.js';
import { accessKey, CPF, mei, NITEROI, NOW, normal, note, type Row, rio } from '../row.js';

const cnc = { municipalRegistration: '123' };
const im = '<IM>123</IM>';
const byPerson = { provider: `<CPF>${CPF}</CPF>`, id: `DPS${RIO}1000${CPF}00001000000000000001` };
const byCustomer = {
  tpEmit: '2',
  toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`),
  id: `DPS${RIO}2${CUSTOMER}00001000000000000001`,
};

const company = (entry: object) => ({ companies: { [COMPANY]: entry } });

export const headerRows: readonly Row[] = [
  [['E0004'], { id: `DPS${RIO}2${COMPANY}00001000000000000999` }],
  [['E0006'], { tpAmb: '1' }],
  [['E0008'], {}, { now: '2026-10-15T14:59:59.000Z' }],
  [['E0010'], { serie: '50000' }],
  [['E0015'], { dCompet: '2026-10-16' }],
  [['E0016'], {}, rio({ adherentSince: '2026-10-16' })],
  [['E0018'], {}, company({ since: '2026-10-16' })],
  [['E0020'], byPerson, { persons: { [CPF]: { since: '2026-10-16' } } }],
  [['E0023'], { im }, company({ cnc: { ...cnc, since: '2026-10-16' } })],
  [['E0025'], { im }, company({ cnc: { ...cnc, emitterSince: '2026-10-16' } })],
  [['E9996'], byCustomer],
  [['E0029'], { reason: '<cMotivoEmisTI>4</cMotivoEmisTI>' }],
  [['E0037'], { municipality: '3500105' }],
  [['E0038'], {}, rio({ adherent: false })],
  [['E0039'], {}, rio({ nationalEmitter: false })],
  [['E0041'], mei, company({ municipality: NITEROI })],
];

const old = note();
const subst = (changes: { key?: string; reason?: string; text?: string } = {}) => ({
  subst:
    `<subst><chSubstda>${changes.key ?? old.accessKey}</chSubstda><cMotivo>${changes.reason ?? '05'}</cMotivo>` +
    `${changes.text ?? ''}</subst>`,
});
const held = (events: readonly string[] = []) => ({ notes: [{ note: old, events }] });
const twoDaysLater = '2026-10-17T15:00:01.000Z';
const spoiled = `${old.accessKey.slice(0, 49)}${(Number(old.accessKey.at(-1)) + 1) % 10}`;

export const substRows: readonly Row[] = [
  [['E0042'], subst({ key: spoiled }), { notes: [{ note: note({ accessKey: spoiled }) }] }],
  [['E0044'], subst({ key: accessKey(8) })],
  [['E0046'], subst(), held(['101101'])],
  [['E0050'], subst(), { ...held(), ...rio({ substitutionDays: 2 }), now: twoDaysLater }],
  [
    ['E0056'],
    { ...subst(), toma: '' },
    { ...rio({ substitutionNeedsCustomer: true }), notes: [{ note: withoutCustomer() }] },
  ],
  [['E0058'], { ...normal, ...subst(), toma: '' }, { ...rio({ substitutionKeepsCustomer: true }), ...held() }],
  [['E0060'], { ...normal, ...subst(), code: '010201' }, held()],
  [['E0061'], { ...subst(), amount: '1500.01' }, held()],
  [['E0065'], subst(), { notes: [{ note: old, isElsewhere: true }] }],
  [['E0068'], subst(), held(['101103'])],
  [['E0068'], subst(), held(['101103', '105105'])],
  [['E0068'], subst(), held(['105105'])],
  [['E0070'], subst(), held(['203202'])],
  [['E0072'], subst(), held(['205204'])],
  [['E0076'], subst(), held(['305102:105102'])],
  [['E0076'], subst(), held(['305103:105102', '305102:105102'])],
  [['E0078'], subst({ reason: '99' }), held()],
];

function withoutCustomer() {
  const { customer: _, ...rest } = old;
  return rest;
}

/** Each on its first day. */
export const validHeaders: readonly Row[] = [
  [[], {}, rio({ adherentSince: '2026-10-15' })],
  [[], {}, company({ since: '2026-10-15' })],
  [
    [],
    { im },
    company({ cnc: { ...cnc, since: '2026-10-15', emitterSince: '2026-10-15', inactiveSince: '2026-10-16' } }),
  ],
  [[], { serie: '49999' }],
];

export const validSubstitutions: readonly Row[] = [
  [[], subst(), held()],
  [[], subst(), held(['305102:105102', '305103:105102'])],
  [[], subst({ reason: '01' }), { ...held(), ...rio({ substitutionDays: 2 }), now: twoDaysLater }],
  [[], subst(), { ...held(), ...rio({ substitutionDays: 2 }), now: NOW }],
  [[], subst({ reason: '99', text: '<xMotivo>Dados do tomador errados</xMotivo>' }), held()],
];

export const prestRows: readonly Row[] = [
  [['E0080'], { cnpj: '12345678000196' }],
  [['E0082'], {}, company({ registered: false })],
  [['E0084'], {}, company({ municipality: NITEROI })],
  [['E0096'], { provider: '<CPF>12345678900</CPF>', id: `DPS${RIO}10001234567890000001000000000000001` }],
  [['E0112'], { provider: '<NIF>123</NIF>' }],
  [['E0114'], { provider: '<cNaoNIF>1</cNaoNIF>' }],
  [['E0114', 'E0115'], { provider: '<cNaoNIF>0</cNaoNIF>' }],
  [['E0098'], byPerson, { persons: { [CPF]: { registered: false } } }],
  [
    ['E0113', 'E0128'],
    {
      im:
        '<end><endExt><cPais>US</cPais><cEndPost>1</cEndPost><xCidade>X</xCidade><xEstProvReg>Y</xEstProvReg></endExt>' +
        '<xLgr>A</xLgr><nro>1</nro><xBairro>B</xBairro></end>',
    },
  ],
  [['E0116'], {}, company({ cnc })],
  [['E0119'], { im }, company({ cnc: { ...cnc, authorized: false } })],
  [['E0120'], { im }],
  [['E0121'], { im: '<xNome>EU MESMO</xNome>' }],
  [['E0124'], { im }, company({ cnc: { ...cnc, inactiveSince: '2026-10-15' } })],
  [
    ['E0128'],
    {
      im: `<end><endNac><cMun>${RIO}</cMun><CEP>20000000</CEP></endNac><xLgr>A</xLgr><nro>1</nro><xBairro>B</xBairro></end>`,
    },
  ],
  [['E0148'], { im: '<email>sem arroba</email>' }],
  [['E0160'], {}, company({ regime: 'normal' })],
  [['E0162'], { ...normal, regTrib: '<opSimpNac>1</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>0</regEspTrib>' }],
  [['E0166'], { regTrib: '<opSimpNac>3</opSimpNac><regEspTrib>0</regEspTrib>' }],
  [
    ['E0172'],
    {
      ...normal,
      regTrib: '<opSimpNac>1</opSimpNac><regEspTrib>6</regEspTrib>',
      tribMun: '<tribISSQN>4</tribISSQN><tpRetISSQN>1</tpRetISSQN>',
    },
  ],
  [['E0174'], { ...mei, regTrib: '<opSimpNac>2</opSimpNac><regEspTrib>6</regEspTrib>' }],
  [['E0175'], { regTrib: '<opSimpNac>3</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>6</regEspTrib>' }],
  [
    ['E0176'],
    { ...normal, regTrib: '<opSimpNac>1</opSimpNac><regEspTrib>5</regEspTrib>' },
    rio({ specialRegimes: ['6'] }),
  ],
  [
    ['E0177'],
    { ...normal, regTrib: '<opSimpNac>1</opSimpNac><regEspTrib>6</regEspTrib>' },
    rio({ specialRegimes: ['5'] }),
  ],
];
