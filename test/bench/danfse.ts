import { loadavg } from 'node:os';
import { danfsePage, renderDanfse } from '../../src/adapters/pdf/danfse.js';
import { readNote } from '../../src/adapters/pdf/read-note.js';
import { pdfThreads, thisMachine } from '../../src/runtime/config/machine.js';
import { openRenderer } from '../adapters/pdf/support/drawing.js';
import { alteredXml, marks, noteOf } from '../adapters/pdf/support/notes.js';
import { type LoopBlocks, loopBesideBusyThreads, watchLoop } from './loop.js';
import { atLeast, below, type Row } from './report.js';
import { median } from './rounds.js';

/** Pages for each thread before anything counts: the compilers have finished by then. */
const WARM_UP = 60;
const PAGES = 240;
const PHASE_ROUNDS = 100;

/**
 * DANFSe pages per second and the time of one, from XML to PDF, with one and two threads always busy; the
 * longest time that the thread of the clients stood still meanwhile, beside what the machine alone makes it wait; and where the time of a page goes.
 */
export const benchDanfse = async (): Promise<readonly Row[]> => [
  ...(await pagesWith(1)),
  ...(await pagesWith(2)),
  await phases(),
];

const pagesWith = async (workers: number): Promise<readonly Row[]> => {
  const renderer = openRenderer({ ...pdfThreads(thisMachine()), workers });
  try {
    await drawAll(renderer.render, workers, WARM_UP * workers);
    const seen = watchLoop();
    const begun = performance.now();
    const cpu = process.cpuUsage();
    const times = await drawAll(renderer.render, workers, PAGES);
    const rate = PAGES / ((performance.now() - begun) / 1_000);
    const { user, system } = process.cpuUsage(cpu);
    const blocks = seen();
    const bare = await loopBesideBusyThreads(workers);
    return [rowOf(workers, { rate, times, cpuMs: (user + system) / 1e3 / PAGES }), loopRow(workers, blocks, bare)];
  } finally {
    await renderer.close();
  }
};

type Measured = { rate: number; times: readonly number[]; cpuMs: number };

/** Processor time and load say how much of a low rate is the machine's. */
const rowOf = (workers: number, { rate, times, cpuMs }: Measured): Row => ({
  name: `DANFSe, ${workers} ${workers === 1 ? 'thread' : 'threads'}`,
  figure: `${rate.toFixed(1)} pages/s`,
  ...(workers === 2 ? { aim: atLeast(60, rate, ' pages/s') } : { aim: below(25, cpuMs, ' ms') }),
  detail:
    `p50 ${median(times).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, ` +
    `${cpuMs.toFixed(1)} ms of processor a page; load ${(loadavg()[0] ?? 0).toFixed(1)}`,
});

const loopRow = (workers: number, { longestMs, collectorMs }: LoopBlocks, bare: LoopBlocks): Row => ({
  name: '  event loop meanwhile',
  figure: `${longestMs.toFixed(1)} ms`,
  aim: below(20, longestMs, ' ms'),
  detail:
    `longest block with ${workers} busy, longest pause of the collector ${collectorMs.toFixed(1)} ms; ` +
    `${bare.longestMs.toFixed(1)} ms beside as many busy threads that draw nothing`,
});

/** Milliseconds of each page; as many callers as threads, so that none waits for another. */
const drawAll = async (
  render: ReturnType<typeof openRenderer>['render'],
  callers: number,
  pages: number,
): Promise<readonly number[]> => {
  const times: number[] = [];
  let begun = 0;
  const caller = async () => {
    while (begun < pages) {
      begun += 1;
      const xml = noteNumber(begun);
      const start = performance.now();
      await render(xml, marks({ simulated: true }));
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return times;
};

/** Another number, customer and text each time, as in production. */
const noteNumber = (number: number): Buffer =>
  alteredXml(
    'reform',
    ['<nNFSe>146<', `<nNFSe>${number}<`],
    ['FICTICIA &amp; FILHOS', `MARIA JOSÉ DA CONCEIÇÃO ${number}`],
    ['Desenvolvimento de sistemas', `Desenvolvimento de sistemas, etapa ${number} de ${number + 3}`],
  );

/** One page after another on this thread. */
const phases = async (): Promise<Row> => {
  const spent = { read: [] as number[], arrange: [] as number[], all: [] as number[] };
  for (let round = 0; round < 2 * PHASE_ROUNDS; round += 1) {
    const xml = noteNumber(round);
    const begun = performance.now();
    readNote(xml);
    const read = performance.now();
    const note = noteOf(xml);
    const reread = performance.now();
    danfsePage(note, marks({ simulated: true }));
    const layoutOf = performance.now();
    await renderDanfse(note, marks({ simulated: true }));
    if (round < PHASE_ROUNDS) continue;
    spent.read.push(read - begun);
    spent.arrange.push(layoutOf - reread);
    spent.all.push(performance.now() - layoutOf);
  }
  const [read, arrange, all] = [median(spent.read), median(spent.arrange), median(spent.all)];
  const print = all - arrange;
  return {
    name: '  where the time goes',
    figure: `${(read + all).toFixed(1)} ms`,
    detail: `read ${read.toFixed(1)}, arrange ${arrange.toFixed(1)}, print and embed fonts ${print.toFixed(1)} ms (p50, one thread)`,
  };
};

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
