import { parseArgs } from 'node:util';
import { benchAccept } from './accept.js';
import { benchAudit } from './audit.js';
import { benchDanfse } from './danfse.js';
import { benchEventLog } from './event-log.js';
import { benchGrowth, GROWTH_SIZES } from './growth.js';
import { benchHostile } from './hostile.js';
import { benchHostileBodies } from './hostile-bodies.js';
import { floodNames } from './hostile-floods.js';
import { benchRead } from './read.js';
import { benchReadNote } from './read-note.js';
import { benchRebuild } from './rebuild.js';
import { atLeast, type Row, renderTable } from './report.js';
import { benchSign } from './sign.js';
import { benchStart } from './start.js';
import { benchWay } from './way.js';

type Flags = { sizes?: string | undefined; folder?: string | undefined; fill?: string | undefined };

/** The figures of docs/development.md#bench, by the names that `npm run bench -- NAME...` takes. */
const groups: Readonly<Record<string, (flags: Flags) => Promise<readonly Row[]>>> = {
  'event-log': async () => (await benchEventLog()).map(compared(0.8)),
  danfse: benchDanfse,
  sign: async () => (await benchSign()).map(compared(0.7)),
  'read-note': benchReadNote,
  accept: benchAccept,
  read: benchRead,
  way: benchWay,
  rebuild: benchRebuild,
  audit: benchAudit,
  start: benchStart,
  hostile: async () => [...(await benchHostile()), ...(await benchHostileBodies())],
  'hostile-bodies': benchHostileBodies,
  ...Object.fromEntries(floodNames.map((name) => [`hostile:${name}`, () => benchHostile([name])])),
  growth: ({ sizes, folder, fill }) =>
    benchGrowth({
      sizes: sizes === undefined ? GROWTH_SIZES : sizes.split(',').map(Number),
      folder,
      fillMinutes: fill === undefined ? undefined : Number(fill),
    }),
};

/** Not among those that run when none is named: they take long, or are a part of another group. */
const ONLY_BY_NAME: ReadonlySet<string> = new Set([
  'growth',
  'hostile-bodies',
  ...floodNames.map((name) => `hostile:${name}`),
]);

const compared =
  (least: number) =>
  ({ name, ratio, detail }: { name: string; ratio: number; detail: string }): Row => {
    const [figure = '', ...rest] = detail.split(' against ');
    return { name, figure, ratio, aim: atLeast(least, ratio), detail: `bare ${rest.join(' against ')}` };
  };

/** A missed aim is shown but does not fail, because times depend on other work of the machine. Only a broken run exits with 1. */
const main = async (args: string[]): Promise<void> => {
  const { values: flags, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: { sizes: { type: 'string' }, folder: { type: 'string' }, fill: { type: 'string' } },
  });
  const unknown = names.filter((name) => !Object.hasOwn(groups, name));
  if (unknown.length > 0) {
    process.stderr.write(`no such group: ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(groups)) {
    if (names.length > 0 ? !names.includes(name) : ONLY_BY_NAME.has(name)) continue;
    const begun = performance.now();
    process.stderr.write(`${name} ...`);
    try {
      rows.push(...(await run(flags)));
      process.stderr.write(` ${((performance.now() - begun) / 1_000).toFixed(0)} s\n`);
    } catch (error) {
      process.stderr.write(` broken: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}\n`);
      process.exitCode = 1;
    }
  }
  process.stdout.write(`\n${renderTable(rows)}\n`);
};

await main(process.argv.slice(2));
