import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { roles } from '../../src/runtime/config/config.js';
import { startChild } from './child.js';
import { type BenchHarness, type Surroundings, withBenchHarness } from './harness.js';
import { postUntilIssued } from './issued.js';
import { familyMs, parentOf, processorOf } from './processor.js';
import { atLeast, type BenchResult, type Chart, perSecond, type Row } from './report.js';
import { median } from './rounds.js';
import type { SimulatorReady } from './simulator-process.js';

/** A service that runs for hours has its code compiled and its connections open. */
const WARM_UP = 3_000;
const INVOICES = 600;
const ROUNDS = 3;

/** Invoices a second, divided by the RSA-2048 signatures that one core makes in a second (test/bench/README.md). */
const WAY_AIM = 0.1;
const SERVICE_AIM = 0.2;

/** Processor time in ms by what spent it. */
export type Spent = {
  /** The thread that serves clients and issues. */
  serviceLoop: number;
  /** Threads that sign and read answers, garbage collector and compiler. */
  serviceThreads: number;
  postgres: number;
  simulator: number;
  /** The clients of this bench. */
  clients: number;
};

/** `seconds`: from the first POST to the last authorization in the log. `signatures`: a second of one core, just before. */
type WayRound = { invoices: number; seconds: number; signatures: number; spent: Spent } & {
  /** On the monotonic clock of the machine, in µs, by which profiles count. */
  begunAt: number;
  endedAt: number;
};

/** From the first POST to the last authorization in the log; the simulator runs in a separate process (aim: test/bench/README.md). */
export const benchWay = async (): Promise<BenchResult> => {
  const rounds = await measureWay();
  return { rows: rowsOf(rounds), charts: [chartOf(rounds)] };
};

type WayOptions = { serviceFlags?: readonly string[]; afterwards?(db: pg.Pool): Promise<void> };

export const measureWay = ({ serviceFlags = [], afterwards }: WayOptions = {}): Promise<readonly WayRound[]> => {
  let simulatorPid = 0;
  return withBenchHarness(
    roles,
    async (harness) => {
      const db = new pg.Pool({ connectionString: harness.service.ready.connectionString, max: 1 });
      harness.alsoStop(() => db.end());
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
      const postgresPid = parentOf(rows[0]?.pid ?? 0) ?? 0;
      const spent = (): Spent => spentBy(harness, { simulatorPid, postgresPid });
      await postUntilIssued(harness, db, WARM_UP);
      const rounds: WayRound[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const signatures = signaturesOfOneCore();
        const before = spent();
        const begunAt = micros();
        const seconds = await postUntilIssued(harness, db, INVOICES);
        const times = { begunAt, endedAt: micros() };
        rounds.push({ invoices: INVOICES, seconds, signatures, spent: difference(spent(), before), ...times });
      }
      await afterwards?.(db);
      return rounds;
    },
    async (home, alsoStop) => {
      const { surroundings, pid } = await simulatorBeside(home, alsoStop);
      simulatorPid = pid;
      return { ...surroundings, serviceFlags };
    },
  );
};

const micros = (): number => Number(process.hrtime.bigint() / 1_000n);

const spentBy = (
  { service, loaderPid }: BenchHarness,
  { simulatorPid, postgresPid }: { simulatorPid: number; postgresPid: number },
): Spent => {
  const { main, others } = processorOf(service.pid);
  return {
    serviceLoop: main,
    serviceThreads: others,
    postgres: familyMs(postgresPid),
    simulator: familyMs(simulatorPid),
    clients: familyMs(loaderPid),
  };
};

const difference = (after: Spent, before: Spent): Spent => ({
  serviceLoop: after.serviceLoop - before.serviceLoop,
  serviceThreads: after.serviceThreads - before.serviceThreads,
  postgres: after.postgres - before.postgres,
  simulator: after.simulator - before.simulator,
  clients: after.clients - before.clients,
});

const rowsOf = (rounds: readonly WayRound[]): readonly Row[] => {
  const cores = availableParallelism();
  const of = (figure: (round: WayRound) => number): number => median(rounds.map(figure));
  const rate = (round: WayRound): number => round.invoices / round.seconds;
  /** What the same cores would do if the authorizer worked elsewhere. */
  const rateAlone = (round: WayRound): number =>
    round.invoices / (round.seconds - round.spent.simulator / 1_000 / cores);
  const each = (part: keyof Spent): string => of(({ spent, invoices }) => spent[part] / invoices).toFixed(2);
  const busy = of(({ spent, seconds }) => Object.values(spent).reduce((sum, ms) => sum + ms, 0) / (seconds * 1_000));
  const whole = of((round) => rate(round) / round.signatures);
  const alone = of((round) => rateAlone(round) / round.signatures);
  const slowest = Math.min(...rounds.map(rate));
  const signatures = perSecond(
    of((round) => round.signatures),
    'RSA-2048 signatures',
  );
  return [
    {
      name: 'whole way',
      figure: perSecond(of(rate), 'invoices'),
      floor: signatures,
      ratio: whole,
      aim: atLeast(WAY_AIM, whole),
      detail: `${rounds.length} times ${INVOICES} invoices, slowest ${perSecond(slowest, 'invoices')}; the floor is one core`,
    },
    {
      name: "the service's part",
      figure: perSecond(of(rateAlone), 'invoices'),
      floor: signatures,
      ratio: alone,
      aim: atLeast(SERVICE_AIM, alone),
      detail:
        `ms of processor an invoice: event loop ${each('serviceLoop')}, threads ${each('serviceThreads')}, ` +
        `PostgreSQL ${each('postgres')}, simulator ${each('simulator')}, clients ${each('clients')}; ` +
        `${busy.toFixed(2)} of ${cores} cores busy`,
    },
  ];
};

const PARTS: readonly (readonly [part: keyof Spent, label: string])[] = [
  ['serviceLoop', 'event loop of the service'],
  ['serviceThreads', 'threads of the service'],
  ['postgres', 'PostgreSQL'],
  ['simulator', 'simulator'],
  ['clients', 'clients of the bench'],
];

const chartOf = (rounds: readonly WayRound[]): Chart => ({
  kind: 'bars',
  name: 'way',
  title: 'Where the processor time of an invoice goes',
  unit: ' ms',
  bars: PARTS.map(([part, label]) => ({
    label,
    value: median(rounds.map(({ spent, invoices }) => spent[part] / invoices)),
  })),
});

const SIGNATURES = 1_000;

const key = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;

const signaturesOfOneCore = (): number => {
  const bytes = Buffer.alloc(850, 'x');
  const begun = process.cpuUsage();
  for (let made = 0; made < SIGNATURES; made += 1) sign('sha256', bytes, key);
  const { user, system } = process.cpuUsage(begun);
  return (SIGNATURES / (user + system)) * 1_000_000;
};

const simulatorBeside = async (
  home: string,
  alsoStop: (stop: () => Promise<unknown>) => void,
): Promise<{ surroundings: Surroundings; pid: number }> => {
  const certificatesFrom = join(home, 'authorizer');
  const simulator = await startChild<SimulatorReady>('simulator-process.ts', { dataDir: certificatesFrom });
  alsoStop(simulator.stop);
  const { urls, caPem } = simulator.ready;
  const caFile = join(home, 'authorizer-ca.pem');
  await writeFile(caFile, caPem);
  const env = { AUTHORIZER_TEST_URL: urls.test, AUTHORIZER_LIVE_URL: urls.live, AUTHORIZER_CA_FILE: caFile };
  return { surroundings: { env, certificatesFrom }, pid: simulator.pid };
};
