import type { ProjectionOperations } from '../cli/session.js';
import type { RebuildRun, Rebuilds } from '../console/deps.js';

/** Rebuilds that the console begins: they go on in this process, and what became of the last of each is kept. */
export const createRebuilds = (
  { rebuild }: Pick<ProjectionOperations, 'rebuild'>,
  onFault: (error: unknown) => void,
): Rebuilds & { settled(): Promise<void> } => {
  const runs = new Map<string, RebuildRun>();
  const running = new Map<string, Promise<void>>();
  const run = async (name: string): Promise<void> => {
    try {
      const result = await rebuild(name, ({ events }) =>
        runs.set(name, { state: 'running', detail: `${events} events folded` }),
      );
      if ('refused' in result) runs.set(name, { state: 'refused', detail: result.refused });
      else
        runs.set(name, { state: 'done', detail: `generation ${result.done.generation}, ${result.done.events} events` });
    } catch (error) {
      onFault(error);
      runs.set(name, { state: 'refused', detail: 'an engine failed: begin it again, it goes on from where it was' });
    }
    running.delete(name);
  };
  return {
    begin: (name) => {
      if (running.has(name)) return false;
      runs.set(name, { state: 'running', detail: 'begun' });
      running.set(name, run(name));
      return true;
    },
    of: (name) => runs.get(name),
    settled: async () => {
      await Promise.all(running.values());
    },
  };
};
