import { createHash, randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { judge } from './judge/judge.js';
import { RAW_FILES, type Raw, readRaw } from './judge/raw.js';
import { firstLineOf, HELP, type ProofOptions, readOptions, replayCommand } from './options.js';
import { readLines } from './read-lines.js';
import { writeReport } from './report.js';
import { runProof, type Screen } from './run.js';
import { renderTable, tableOf, verdictLine } from './table.js';

const SEEDS = 1_000_000_000;
/** Findings that are shown; all are counted. */
const SHOWN = 25;

const screenOf = (): Screen => {
  const isTerminal = process.stdout.isTTY === true;
  let lastShown = 0;
  return {
    step: (text) => void process.stdout.write(`${isTerminal ? '\r\u001b[K' : ''}${text}\n`),
    live: (text) => {
      if (isTerminal) process.stdout.write(`\r\u001b[K${text}`);
      else if (Date.now() - lastShown > QUIET_LINE_MS) {
        lastShown = Date.now();
        process.stdout.write(`${text}\n`);
      }
    },
  };
};

/** A log that nobody watches gets fewer lines. */
const QUIET_LINE_MS = 10_000;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Judges raw data and prints the table; true when nothing was found. */
const judgeRaw = async (raw: Raw, writesReport: boolean): Promise<boolean> => {
  const { folder, run } = raw;
  const verdict = judge(raw);
  const faults = await readLines(join(folder, RAW_FILES.faults));
  const lines = tableOf(verdict, raw.mishaps, faults.length);
  const out: string[] = ['', renderTable(lines), ''];
  for (const { name, detail, evidence } of verdict.findings.slice(0, SHOWN))
    out.push(`FOUND ${name}: ${detail} (${evidence})`);
  if (verdict.findings.length > SHOWN) out.push(`and ${verdict.findings.length - SHOWN} more`);
  for (const reason of run.notMade) out.push(`not made: ${reason}`);
  out.push(`the same draws: ${replayCommand(run)}`);
  out.push(`${verdictLine(verdict, run.isWhole)}; seed ${run.seed}; raw data in ${folder}`, '');
  process.stdout.write(out.join('\n'));
  if (writesReport) await writeReport(folder, raw, verdict, lines);
  return verdict.findings.length === 0 && run.isWhole;
};

const refuse = (reason: string): number => {
  process.stderr.write(`${reason}\n`);
  return BAD_USAGE;
};

const judgeAgain = async (folder: string, writesReport: boolean): Promise<number> => {
  let raw: Raw;
  try {
    raw = await readRaw(folder, sha256);
  } catch (error) {
    return refuse(`${folder} holds no whole raw data of a run: ${firstLineOf(error)}`);
  }
  return (await judgeRaw(raw, writesReport)) ? 0 : 1;
};

const runAndJudge = async (options: ProofOptions): Promise<number> => {
  const folder = resolve(options.out ?? (await mkdtemp(join(tmpdir(), 'nfse-proof-of-run-'))));
  const taken = Object.values(RAW_FILES).find((name) => existsSync(join(folder, name)));
  if (taken !== undefined)
    return refuse(
      `${folder} holds raw data of another run (${taken}), which this run would replace: name another folder`,
    );
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    return refuse(`--out ${folder}: ${firstLineOf(error)}`);
  }
  const again = replayCommand({ ...options, options });
  const asked = new AbortController();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const breakOff = () => (asked.signal.aborted ? process.exit(BROKEN_OFF) : asked.abort());
  for (const signal of signals) process.on(signal, breakOff);
  const { live, isWhole } = await runProof(options, folder, screenOf(), asked.signal);
  if (asked.signal.aborted) {
    process.stdout.write(
      `\nbroken off, not judged: ${live.line()}\nthe same draws: ${again}\nraw data so far in ${folder}\n`,
    );
    return BROKEN_OFF;
  }
  if (!isWhole) {
    process.stdout.write(`the same draws: ${again}\nthe run broke off by itself; raw data so far in ${folder}\n`);
    return 1;
  }
  // The judge computes for minutes without a pause, in which only the system's own way to end a process works. Nothing else runs any more.
  for (const signal of signals) process.off(signal, breakOff);
  process.stdout.write(`judging; raw data in ${folder}, which --judge judges again\n`);
  return (await judgeRaw(await readRaw(folder, sha256), options.writesReport)) ? 0 : 1;
};

const BAD_USAGE = 2;
const BROKEN_OFF = 130;

const main = async (args: readonly string[]): Promise<number> => {
  const asked = readOptions(args, randomInt(SEEDS));
  switch (asked.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'wrong':
      process.stderr.write(`${asked.reason}\n\n${HELP}`);
      return BAD_USAGE;
    case 'judge':
      return await judgeAgain(resolve(asked.folder), asked.writesReport);
    case 'run':
      return await runAndJudge(asked.options);
  }
};

process.exitCode = await main(process.argv.slice(2));
