import { ChildProcess } from 'node:child_process';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';

/** Longer than the bound of a test or a hook: whoever waits within a bound has failed before. */
const STALLED_AFTER_MS = 12 * 60_000;

type StallReporter = Reporter & {
  /** True for the error by which vitest tells of a process that this reporter killed after all files of that process had ended. */
  forgives(error: { message?: string }): boolean;
};

/**
 * Ends a run that stands still. A process of vitest may end its file and never say so, and one that computes for ever says nothing either: vitest
 * waits for both without a bound. This reporter kills such processes, names the tests that they were in, and fails a run in which a file has no
 * result.
 */
export const createStallReporter = (stalledAfterMs = STALLED_AFTER_MS): StallReporter => {
  let lastMs = Date.now();
  let killedBetweenFiles = false;
  let timer: NodeJS.Timeout | undefined;
  let expected = new Set<string>();
  const inside = new Map<string, string>();

  const heard = (): void => {
    lastMs = Date.now();
  };
  const check = (): void => {
    if (Date.now() - lastMs < stalledAfterMs) return;
    heard();
    killedBetweenFiles = inside.size === 0;
    say(`the run stands still; its processes are killed`);
    for (const [file, test] of inside) say(`STALLED ${file} ${test}`);
    const toKill = workers();
    // Not even the first file began, because the set-up of the run waits.
    if (toKill.length === 0) process.exit(1);
    for (const worker of toKill) worker.kill('SIGKILL');
  };

  return {
    forgives: ({ message = '' }) => killedBetweenFiles && /^\[vitest-pool\]: Worker \w+ emitted error/.test(message),
    onTestRunStart: (specifications) => {
      heard();
      expected = new Set(specifications.map(nameOf));
      timer = setInterval(check, stalledAfterMs / 20);
      timer.unref();
    },
    onTestModuleQueued: (module) => {
      heard();
      inside.set(nameOf(module), '');
    },
    onTestCaseReady: ({ module, fullName }) => {
      heard();
      inside.set(nameOf(module), `> ${fullName}`);
    },
    onTestCaseResult: ({ module }) => {
      heard();
      inside.set(nameOf(module), '');
    },
    onHookStart: heard,
    onHookEnd: heard,
    onTestModuleEnd: (module) => {
      heard();
      inside.delete(nameOf(module));
      expected.delete(nameOf(module));
    },
    onTestRunEnd: (_modules, _errors, reason) => {
      clearInterval(timer);
      if (reason === 'interrupted' || expected.size === 0) return;
      for (const file of expected) say(`NO RESULT ${file}`);
      process.exitCode = 1;
    },
  };
};

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const nameOf = ({ project, moduleId }: TestModule | TestSpecification): string => `${project.name} ${moduleId}`;

/** Processes in which vitest runs files. Node lists the handles of a process, yet does not declare the function. */
const workers = (): readonly ChildProcess[] =>
  (process as unknown as { _getActiveHandles(): readonly unknown[] })
    ._getActiveHandles()
    .filter((handle): handle is ChildProcess => handle instanceof ChildProcess)
    .filter(({ spawnargs }) => spawnargs.some((argument) => argument.includes('vitest/dist/workers/')));
