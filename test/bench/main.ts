import { parseArgs } from 'node:util';
import { groups } from './groups.js';
import { keepResult } from './report/kept.js';
import { runGroup } from './report/run.js';
import { writeReport } from './report/write.js';
import { type Row, renderTable } from './report.js';

const FLAGS = {
  help: { type: 'boolean' },
  sizes: { type: 'string' },
  folder: { type: 'string' },
  fill: { type: 'string' },
  minutes: { type: 'string' },
  with: { type: 'string' },
} as const;

/** What runs when nothing is named. */
const BY_DEFAULT = Object.keys(groups).filter((name) => groups[name]?.when === 'always');

/**
 * `npm run bench [-- NAME...]` prints a table. `npm run bench -- report [NAME...] [--with NAME,...]` measures what it names, by default all that is
 * not long, and writes docs/performance.md. A missed aim is shown but does not fail, because times depend on other work of the machine: only a
 * broken run exits with 1, or a missed aim that must hold.
 */
const main = async (args: string[]): Promise<void> => {
  const parsed = parsedArgs(args);
  if ('problem' in parsed || parsed.values.help === true) {
    process.stderr.write('problem' in parsed ? `${parsed.problem}\n${USAGE}` : USAGE);
    process.exitCode = 'problem' in parsed ? 2 : 0;
    return;
  }
  const { values: flags, positionals } = parsed;
  const isReport = positionals[0] === 'report';
  const named = isReport ? positionals.slice(1) : positionals;
  const more = flags.with?.split(',') ?? [];
  const unknown = [...named, ...more].filter((name) => !Object.hasOwn(groups, name));
  if (unknown.length > 0) {
    process.stderr.write(`no such group: ${unknown.join(', ')}; there are report, ${Object.keys(groups).join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const rows: Row[] = [];
  for (const name of [...(named.length > 0 ? named : BY_DEFAULT), ...more]) {
    const kept = await runGroup(name, flags);
    if (kept === undefined) {
      process.exitCode = 1;
      continue;
    }
    await keepResult(kept);
    rows.push(...kept.result.rows);
  }
  process.stdout.write(`\n${renderTable(rows)}\n`);
  if (rows.some(({ mustHold, aim }) => mustHold === true && aim?.met === false)) process.exitCode = 1;
  if (isReport) await writeReport();
};

const parsedArgs = (args: string[]) => {
  try {
    return parseArgs({ args, allowPositionals: true, options: FLAGS });
  } catch (error) {
    return { problem: (error as Error).message };
  }
};

const USAGE = `npm run bench -- [report] [NAME...] [--with NAME,...] [--minutes N] [--sizes N,...] [--folder F] [--fill MINUTES]
names: ${Object.keys(groups).join(', ')} (test/bench/README.md)
`;

await main(process.argv.slice(2));
