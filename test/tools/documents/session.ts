import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SampleService } from './sample-service.js';

export type SessionBlock = { kind: 'commands'; commands: string } | { kind: 'output' };

/** Runs blocks of shell commands as a reader would type them, and returns what each asked for: one text per output mark. */
export const runSession = async (blocks: readonly SessionBlock[], service: SampleService): Promise<string[]> => {
  const outputs: string[] = [];
  const ids = new Set<string>();
  let last = '';
  for (const block of blocks) {
    if (block.kind === 'output') {
      outputs.push(last);
      continue;
    }
    // A reader looks until the outcome is there.
    await service.settled(ids);
    last = await runShell(block.commands, service);
    for (const [id] of last.matchAll(/\bnfse_[0-9a-f-]{36}\b/g)) ids.add(id);
  }
  return outputs;
};

/** Lines with `…` stand for a secret that the reader has and this program sets itself. */
const runShell = async (commands: string, service: SampleService): Promise<string> => {
  const state = join(service.folder, 'shell-state');
  const typed = commands.split('\n').filter((line) => !line.includes('…') && !/^export (?:API|CONTROL)=/.test(line));
  const script = [
    'set -eu',
    `if [ -e ${state} ]; then . ${state}; fi`,
    // `npm run -s nfse -- COMMAND` without npm, whose start takes longer than the command.
    'npm() { while [ "$1" != -- ]; do shift; done; shift; "$NFSE_NODE" $NFSE_PROGRAM "$@"; }',
    ...typed,
    `export -p >${state}`,
  ].join('\n');
  const file = join(service.folder, 'session.sh');
  await writeFile(file, script);
  const shell = spawn('bash', [file], { cwd: service.folder, env: { PATH: process.env.PATH, ...service.environment } });
  let [out, complaint] = ['', ''];
  shell.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  shell.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => shell.once('close', resolve));
  if (code !== 0) throw new Error(`the commands ended with ${code}: ${complaint}\n${commands}`);
  return out;
};
