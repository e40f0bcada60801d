import { benchAccept } from './accept.js';
import { benchAudit } from './audit.js';
import { benchDanfse } from './danfse.js';
import { benchEventLog } from './event-log.js';
import { benchHostile } from './hostile.js';
import { benchHostileBodies } from './hostile-bodies.js';
import { benchRead } from './read.js';
import { benchRebuild } from './rebuild.js';
import { atLeast, type Row, renderTable } from './report.js';
import { benchSign } from './sign.js';
import { benchStart } from './start.js';
import { benchWay } from './way.js';

/** The figures of docs/development.md#bench, by the names that `npm run bench -- NAME...` takes. */
const groups: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  'event-log': async () => (await benchEventLog()).map(compared(0.8)),
  danfse: benchDanfse,
  sign: async () => (await benchSign()).map(compared(0.7)),
  accept: benchAccept,
  read: benchRead,
  way: benchWay,
  rebuild: benchRebuild,
  audit: benchAudit,
  start: benchStart,
  hostile: async () => [...(await benchHostile()), ...(await benchHostileBodies())],
  'hostile-bodies': benchHostileBodies,
};

const compared =
  (least: number) =>
  ({ name, ratio, detail }: { name: string; ratio: number; detail: string }): Row => {
    const [figure = '', ...rest] = detail.split(' against ');
    return { name, figure, ratio, aim: atLeast(least, ratio), detail: `bare ${rest.join(' against ')}` };
  };

/** A missed aim is shown but does not fail, because times depend on other work of the machine. Only a broken run exits with 1. */
const main = async (names: readonly string[]): Promise<void> => {
  const unknown = names.filter((name) => !Object.hasOwn(groups, name));
  if (unknown.length > 0) {
    process.stderr.write(`no such group: ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(groups)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const begun = performance.now();
    process.stderr.write(`${name} ...`);
    try {
      rows.push(...(await run()));
      process.stderr.write(` ${((performance.now() - begun) / 1_000).toFixed(0)} s\n`);
    } catch (error) {
      process.stderr.write(` broken: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}\n`);
      process.exitCode = 1;
    }
  }
  process.stdout.write(`\n${renderTable(rows)}\n`);
};

await main(process.argv.slice(2));
