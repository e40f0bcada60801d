import { startProgram } from '../support/harness/processes.js';

export type Survivor = {
  /** Starts a whole service with these variables; answers the origin of its API. */
  start(env: Readonly<Record<string, string>>): Promise<string>;
  /** Ends the service of this origin in order. */
  stop(origin: string): Promise<void>;
  close(): Promise<void>;
};

/** A process that is never killed, in which services start on the data of processes that were. */
export const startSurvivor = async (): Promise<Survivor> => {
  const program = await startProgram<{ url: string }>(['test/crash/survivor-child.ts'], {});
  const order = async (method: 'POST' | 'DELETE', body: string): Promise<string> => {
    const response = await fetch(program.ready.url, { method, body });
    const said = await response.text();
    if (!response.ok) throw new Error(`${said}\n${program.complaint()}`);
    return said;
  };
  return {
    start: (env) => order('POST', JSON.stringify(env)),
    stop: async (origin) => void (await order('DELETE', origin)),
    close: () => program.kill(),
  };
};
