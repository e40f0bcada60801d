import { ABSENT } from './format.js';

/** Descriptions of the codes of one field of the layout (leiaute DPS/NFS-e 1.01, where the name says no other). */
type Labels = { readonly [code: string]: string };

/** The description of a code; the code itself when the table lacks it, `-` when it is absent. */
export const labelOf = (labels: Labels, code: string | undefined): string =>
  code === undefined ? ABSENT : ((Object.hasOwn(labels, code) ? labels[code] : undefined) ?? code);

export const ambGer: Labels = { '1': 'Sistema Próprio do Município', '2': 'Sefin Nacional NFS-e' };

export const tpAmb: Labels = { '1': 'Produção', '2': 'Homologação' };

export const tpEmit: Labels = { '1': 'Prestador', '2': 'Tomador', '3': 'Intermediário' };

export const cStat: Labels = {
  '100': 'NFS-e Gerada',
  // The schema has it in layout 1.00 only; notes of 1.01 from the web emitter carry it all the same.
  '101': 'NFS-e de Substituição Gerada',
  '102': 'NFS-e de Decisão Judicial ou Administrativa',
  '103': 'NFS-e Avulsa',
  '107': 'NFS-e MEI',
};

export const finNFSe: Labels = { '0': 'NFS-e regular' };

export const opSimpNac: Labels = {
  '1': 'Não Optante',
  '2': 'Optante - Microempreendedor Individual (MEI)',
  '3': 'Optante - Microempresa ou Empresa de Pequeno Porte (ME/EPP)',
};

export const regApTribSN: Labels = {
  '1': 'Regime de apuração dos tributos federais e municipal pelo Simples Nacional',
  '2': 'Regime de apuração dos tributos federais pelo SN e o ISSQN pela NFS-e conforme respectiva legislação municipal do tributo',
  '3': 'Regime de apuração dos tributos federais e municipal pela NFS-e conforme respectivas legislações federal e municipal de cada tributo',
};

export const regEspTrib: Labels = {
  '0': 'Nenhum',
  '1': 'Ato Cooperado (Cooperativa)',
  '2': 'Estimativa',
  '3': 'Microempresa Municipal',
  '4': 'Notário ou Registrador',
  '5': 'Profissional Autônomo',
  '6': 'Sociedade de Profissionais',
  '9': 'Outros',
};

/** The description of a `tribISSQN` that says that the operation is not subject to the ISSQN. */
export const NOT_SUBJECT = 'Não Incidência';

/** By the layout of the DPS: 1.01 changed the numbers of these codes (XSD `TSTribISSQN`). */
export const tribISSQN = (versao: string | undefined): Labels => (versao === '1.00' ? tribISSQN100 : tribISSQN101);

const tribISSQN100: Labels = {
  '1': 'Operação tributável',
  '2': 'Exportação de serviço',
  '3': NOT_SUBJECT,
  '4': 'Imunidade',
};

const tribISSQN101: Labels = {
  '1': 'Operação tributável',
  '2': 'Imunidade',
  '3': 'Exportação de serviço',
  '4': NOT_SUBJECT,
};

export const tpImunidade: Labels = {
  '0': 'Imunidade (tipo não informado na nota de origem)',
  '1': 'Patrimônio, renda ou serviços, uns dos outros',
  '2': 'Entidades religiosas e templos de qualquer culto',
  '3': 'Patrimônio, renda ou serviços dos partidos políticos, entidades sindicais, instituições de educação e de assistência social',
  '4': 'Livros, jornais, periódicos e o papel destinado a sua impressão',
  '5': 'Fonogramas e videofonogramas musicais produzidos no Brasil',
};

export const tpSusp: Labels = {
  '1': 'Exigibilidade Suspensa por Decisão Judicial',
  '2': 'Exigibilidade Suspensa por Processo Administrativo',
};

export const tpRetISSQN: Labels = { '1': 'Não Retido', '2': 'Retido pelo Tomador', '3': 'Retido pelo Intermediário' };

/** Without the percentage or amount of the benefit, which the note does not hold. */
export const tpBM: Labels = {
  '1': 'Isenção',
  '2': 'Redução da BC em percentual',
  '3': 'Redução da BC em valor',
  '4': 'Alíquota Diferenciada',
};

export const tpRetPisCofins: Labels = {
  '0': 'PIS/COFINS/CSLL Não Retidos',
  '1': 'PIS/COFINS Retido',
  '2': 'PIS/COFINS Não Retido',
  '3': 'PIS/COFINS/CSLL Retidos',
  '4': 'PIS/COFINS Retidos, CSLL Não Retido',
  '5': 'PIS Retido, COFINS/CSLL Não Retido',
  '6': 'COFINS Retido, PIS/CSLL Não Retido',
  '7': 'PIS Não Retido, COFINS/CSLL Retidos',
  '8': 'PIS/COFINS Não Retidos, CSLL Retido',
  '9': 'COFINS Não Retido, PIS/CSLL Retidos',
};
