import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process of this benchmark: started with one argument, says when it is ready, answers one question at a time. */
export type Child<Ready, Question, Answer> = {
  ready: Ready;
  pid: number;
  ask(question: Question): Promise<Answer>;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
};

/** `flags` are for Node (`--cpu-prof`); `environment` is added to that of this process. */
type ChildOptions = { flags?: readonly string[]; environment?: Readonly<Record<string, string>> };

/** `script` is in this folder, whose code `built.mjs` has compiled. Rejects when the process ends unexpectedly. */
export const startChild = async <Ready, Question = never, Answer = never>(
  script: string,
  argument: unknown,
  { flags = [], environment = {} }: ChildOptions = {},
): Promise<Child<Ready, Question, Answer>> => {
  const path = fileURLToPath(new URL(script, import.meta.url)).replace(/\.ts$/, '.js');
  // stdout goes nowhere: log lines are written, as in production, but cost no terminal.
  const child = fork(path, [JSON.stringify(argument)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [...flags],
    env: { ...process.env, ...environment },
  });
  const ready = (await nextMessage(child, script)) as Ready;
  return {
    ready,
    pid: child.pid ?? 0,
    ask: async (question) => {
      child.send({ question });
      return (await nextMessage(child, script)) as Answer;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.send({ stop: true });
      await ended;
    },
  };
};

const nextMessage = (child: ChildProcess, script: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`${script} ended with ${code ?? 'a signal'}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });

/** Of this process so far, all threads together. */
export const processorSeconds = async (): Promise<number> => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};

/** The child's side. Ends the process at the parent's request or at the parent's end, so that nothing is left running. */
export const serveParent = async <Argument, Question>(
  start: (argument: Argument) => Promise<{
    ready: unknown;
    answer?(question: Question): Promise<unknown>;
    close(): Promise<void>;
  }>,
): Promise<void> => {
  const { ready, answer, close } = await start(JSON.parse(process.argv[2] ?? 'null') as Argument);
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void close().finally(() => process.exit());
  };
  process.on('disconnect', end);
  process.on('message', async (message: { question: Question } | { stop: true }) => {
    if ('stop' in message) return end();
    process.send?.(await answer?.(message.question));
  });
  process.send?.(ready);
};
