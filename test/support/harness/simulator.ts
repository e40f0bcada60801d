import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import type { Mode } from '../../../src/domain/common/ids.js';
import { brasiliaDate, brasiliaStamp, type Instant } from '../../../src/domain/common/time.js';
import { issueClientCertificate } from '../../../src/simulator/authority.js';
import type { Simulator, SimulatorOptions, Tables } from '../../../src/simulator/options.js';
import { startSimulator } from '../../../src/simulator/start.js';
import { classification } from '../../../src/tables/catalogue.js';
import { gunzipBase64, gzipBase64 } from '../../../src/xml/packing.js';
import { signDocument } from '../../../src/xml/sign.js';
import { clientOfRun, giveIdentity } from '../fixture/simulator-identity.js';

export const COMPANY = '12345678000195';
export const OTHER_COMPANY = '98765432000198';
export const CUSTOMER = '11111111000191';
/** The client of the run is this company. */
export const CLIENT = { cnpj: COMPANY, name: 'Estúdio Exemplo Ltda' };
export const RIO = '3304557';

export const tables: Tables = {
  serviceCode: (code) => (code === '010101' ? { description: 'Análise e desenvolvimento de sistemas.' } : undefined),
  nbs: (code) => (code === '115022000' ? { description: 'Projeto e desenvolvimento de aplicativos.' } : undefined),
  municipality: (ibge) => (ibge === RIO ? { name: 'Rio de Janeiro', uf: 'RJ' } : undefined),
  isForeignCountry: (code) => code === 'US',
  classification,
};

/** A clock that only the test moves. */
export const testClock = (at: Instant = new Date().toISOString()) => {
  const clock = { at, now: () => clock.at };
  return clock;
};

export type Answered = {
  status: number;
  contentType: string;
  text: string;
  json: Record<string, unknown>;
  /** Where a redirect leads. */
  location?: string;
};

export type SimulatorHarness = {
  folder: string;
  simulator: Simulator;
  clock: { at: Instant; now(): Instant };
  identity: KeyAndCertificate;
  /** Rejects when the connection ends without an answer. */
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  control(method: string, path: string, body?: unknown): Promise<{ status: number; json: unknown }>;
  restart(): Promise<void>;
  close(): Promise<void>;
};

type CallOptions = { mode?: Mode; body?: unknown; identity?: KeyAndCertificate | null; raw?: boolean };

/** A simulator on a new folder, and a company with a certificate that the simulator accepts. */
export const openSimulatorHarness = async (options: Partial<SimulatorOptions> = {}): Promise<SimulatorHarness> => {
  const folder = await mkdtemp(join(tmpdir(), 'sim-'));
  const clock = testClock();
  const start = () => startSimulator({ folder, port: 0, controlPort: 0, clock, tables, ...options });
  const agents = new Map<KeyAndCertificate | null, Agent>();
  const dropAgents = () => {
    for (const agent of agents.values()) agent.destroy();
    agents.clear();
  };
  // The keys of the run are valid now, which a test with a clock of its own may not be.
  const isGiven = options.clock === undefined && (await giveIdentity(folder));
  const identity = isGiven ? await clientOfRun() : await issueClientCertificate(folder, { ...CLIENT, clock });
  const harness: SimulatorHarness = {
    folder,
    clock,
    identity,
    simulator: await start(),
    call: (method, path, { mode = 'test', body, identity: caller = identity, raw = false } = {}) => {
      const agent = agents.get(caller) ?? newAgent(harness.simulator.caPem, caller);
      agents.set(caller, agent);
      const origin = new URL(harness.simulator.urls[mode]).origin;
      return send(agent, method, raw ? `${origin}${path}` : `${harness.simulator.urls[mode]}${path}`, body);
    },
    control: async (method, path, body) => {
      const response = await fetch(`${harness.simulator.controlUrl}/_control/${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: await response.json() };
    },
    restart: async () => {
      dropAgents();
      await harness.simulator.close();
      harness.simulator = await start();
    },
    close: async () => {
      dropAgents();
      await harness.simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return harness;
};

const newAgent = (ca: string, caller: KeyAndCertificate | null): Agent =>
  new Agent({
    ca,
    keepAlive: true,
    maxSockets: 8,
    ...(caller !== null && { key: caller.privateKeyPem, cert: caller.certificatePem }),
  });

const send = (agent: Agent, method: string, url: string, body: unknown): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const contentType = response.headers['content-type'] ?? '';
        const { location } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          contentType,
          text,
          json: parsed(contentType, text),
          ...(location !== undefined && { location }),
        });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

const parsed = (contentType: string, text: string): Record<string, unknown> => {
  if (!contentType.includes('json')) return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};

export type DpsChanges = {
  version?: string;
  number?: number;
  id?: string;
  tpAmb?: string;
  serie?: string;
  dhEmi?: string;
  dCompet?: string;
  tpEmit?: string;
  /** Between tpEmit and cLocEmi. */
  reason?: string;
  subst?: string;
  /** Instead of the provider's CNPJ. */
  provider?: string;
  municipality?: string;
  cnpj?: string;
  /** Contents of prest after its CNPJ. */
  im?: string;
  regTrib?: string;
  toma?: string;
  interm?: string;
  /** Contents of locPrest. */
  place?: string;
  code?: string;
  municipalCode?: string;
  /** Empty for none. */
  nbs?: string;
  /** Contents of serv after cServ. */
  afterCServ?: string;
  received?: string;
  amount?: string;
  /** Between vServPrest and trib. */
  reductions?: string;
  tribMun?: string;
  tribFed?: string;
  totTrib?: string;
  ibscbs?: string;
};

export const SIMPLES = '<opSimpNac>3</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>0</regEspTrib>';
export const MEI = '<opSimpNac>2</opSimpNac><regEspTrib>0</regEspTrib>';
export const NORMAL = '<opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib>';
export const MONEY_TOT_TRIB =
  '<vTotTrib><vTotTribFed>13.45</vTotTribFed><vTotTribEst>0.00</vTotTribEst><vTotTribMun>5.00</vTotTribMun></vTotTrib>';

const performedIn = (ibge: string): string => `<cLocPrestacao>${ibge}</cLocPrestacao>`;

/** `toma`, `interm` or `fornec`; `rest` follows its name. */
export const party = (element: string, identity: string, rest = ''): string =>
  `<${element}>${identity}<xNome>PARTE FICTICIA</xNome>${rest}</${element}>`;

const STREET = '<xLgr>Rua A</xLgr><nro>1</nro><xBairro>Centro</xBairro>';

/** `end` in Brazil. */
export const address = (ibge = RIO, postalCode = '20000000'): string =>
  `<end><endNac><cMun>${ibge}</cMun><CEP>${postalCode}</CEP></endNac>${STREET}</end>`;

/** `end` abroad. */
export const addressAbroad = (country = 'US'): string =>
  `<end><endExt><cPais>${country}</cPais><cEndPost>10001</cEndPost><xCidade>New York</xCidade>` +
  `<xEstProvReg>NY</xEstProvReg></endExt>${STREET}</end>`;

export const customer = (document = `<CNPJ>${CUSTOMER}</CNPJ>`): string =>
  `<toma>${document}<xNome>CLIENTE FICTICIO &amp; FILHOS</xNome></toma>`;

export const dpsIdOf = ({ number = 1, serie = '1', municipality = RIO, cnpj = COMPANY }: DpsChanges): string =>
  `DPS${municipality}2${cnpj}${serie.padStart(5, '0')}${String(number).padStart(15, '0')}`;

/** An unsigned DPS of a ME/EPP in Rio that the simulator accepts unless the changes spoil it. */
export const dpsXml = (clock: { now(): Instant }, changes: DpsChanges = {}): string => {
  const number = changes.number ?? 1;
  return (
    `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="${changes.version ?? '1.01'}"><infDPS Id="${changes.id ?? dpsIdOf(changes)}">` +
    `<tpAmb>${changes.tpAmb ?? '2'}</tpAmb><dhEmi>${changes.dhEmi ?? brasiliaStamp(clock.now())}</dhEmi>` +
    `<verAplic>Teste_1.0</verAplic><serie>${changes.serie ?? '1'}</serie><nDPS>${number}</nDPS>` +
    `<dCompet>${changes.dCompet ?? brasiliaDate(clock.now())}</dCompet><tpEmit>${changes.tpEmit ?? '1'}</tpEmit>` +
    `${changes.reason ?? ''}<cLocEmi>${changes.municipality ?? RIO}</cLocEmi>${changes.subst ?? ''}<prest>` +
    `${changes.provider ?? `<CNPJ>${changes.cnpj ?? COMPANY}</CNPJ>`}` +
    `${changes.im ?? ''}<regTrib>${changes.regTrib ?? SIMPLES}</regTrib></prest>${changes.toma ?? customer()}` +
    `${changes.interm ?? ''}<serv><locPrest>${changes.place ?? performedIn(RIO)}</locPrest><cServ><cTribNac>` +
    `${changes.code ?? '010101'}</cTribNac>${changes.municipalCode ?? ''}<xDescServ>Desenvolvimento de sistema` +
    `</xDescServ>${changes.nbs === '' ? '' : `<cNBS>${changes.nbs ?? '115022000'}</cNBS>`}</cServ>` +
    `${changes.afterCServ ?? ''}</serv><valores><vServPrest>${changes.received ?? ''}<vServ>` +
    `${changes.amount ?? '1500.00'}</vServ></vServPrest>${changes.reductions ?? ''}<trib><tribMun>` +
    `${changes.tribMun ?? '<tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN>'}</tribMun>${changes.tribFed ?? ''}<totTrib>` +
    `${changes.totTrib ?? '<pTotTribSN>6.00</pTotTribSN>'}</totTrib></trib></valores>${changes.ibscbs ?? ''}</infDPS></DPS>`
  );
};

export const signDps = (xml: string, identity: KeyAndCertificate): Buffer => {
  const id = /infDPS Id="([^"]+)"/.exec(xml)?.[1] ?? '';
  return signDocument(xml, { ...identity, signedElementName: 'infDPS', id, algorithm: 'c14n' }).bytes;
};

/** Body of `POST /nfse`. */
export const issueBody = (harness: SimulatorHarness, changes: DpsChanges = {}, identity = harness.identity) => ({
  dpsXmlGZipB64: gzipBase64(signDps(dpsXml(harness.clock, changes), identity)),
});

export const issue = (
  harness: SimulatorHarness,
  changes: DpsChanges = {},
  options: CallOptions = {},
): Promise<Answered> => harness.call('POST', '/nfse', { body: issueBody(harness, changes), ...options });

export type CancelChanges = { id?: string; tpAmb?: string; author?: string; chNFSe?: string };

/** Body of `POST /nfse/{key}/eventos`. */
export const cancelBody = (
  harness: SimulatorHarness,
  key: string,
  changes: CancelChanges = {},
  identity = harness.identity,
) => {
  const id = changes.id ?? `PRE${key}101101`;
  const xml =
    `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="${id}">` +
    `<tpAmb>${changes.tpAmb ?? '2'}</tpAmb><verAplic>Teste_1.0</verAplic>` +
    `<dhEvento>${brasiliaStamp(harness.clock.now())}</dhEvento><CNPJAutor>${changes.author ?? COMPANY}</CNPJAutor>` +
    `<chNFSe>${changes.chNFSe ?? key}</chNFSe><e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo>` +
    '<xMotivo>Valor do serviço informado incorretamente</xMotivo></e101101></infPedReg></pedRegEvento>';
  const { bytes } = signDocument(xml, { ...identity, signedElementName: 'infPedReg', id, algorithm: 'c14n' });
  return { pedidoRegistroEventoXmlGZipB64: gzipBase64(bytes) };
};

export const cancel = (harness: SimulatorHarness, key: string, changes: CancelChanges = {}): Promise<Answered> =>
  harness.call('POST', `/nfse/${key}/eventos`, { body: cancelBody(harness, key, changes) });

/** The document that an answer carries. */
export const unpack = (base64: unknown): Buffer => {
  const unpacked = gunzipBase64(String(base64), 10_000_000);
  if (!unpacked.ok) throw new Error(unpacked.reason);
  return unpacked.bytes;
};

/** Codes of an answer, whatever its shape. */
export const codesOf = ({ json }: Answered): readonly string[] => {
  const errors: unknown = json.erros ?? json.erro ?? [];
  const list = (Array.isArray(errors) ? errors : [errors]) as { Codigo?: string; codigo?: string }[];
  return list.map(({ Codigo, codigo }) => Codigo ?? codigo ?? '');
};

export const keyOf = ({ json }: Answered): string => String(json.chaveAcesso);

/** Every note in the ledger, as the control port tells. */
export const ledger = async (harness: SimulatorHarness): Promise<Record<string, unknown>[]> =>
  (await harness.control('GET', 'ledger')).json as Record<string, unknown>[];
