import { startChild } from '../child.js';
import { serve } from '../serve.js';
import type { FillArgument } from './fill-process.js';
import { type Filled, readFilled } from './filled.js';

/**
 * Fills a data folder with a history; the rows follow meanwhile, as in production. A filled folder is left as it is, and a fill that ended early
 * is continued. The answer says how many there are.
 */
export const fillFolder = async (argument: FillArgument): Promise<Filled> => {
  const { invoices } = argument;
  const known = await readFilled(argument.env.DATA_DIR ?? '');
  if (known?.made === invoices) return known;
  const env = { ...argument.env, ...PATIENT };
  const projecting = await serve(env, '--role', 'projector');
  try {
    const filling = await startChild<true, 'fill', Filled>('growth/fill-process.ts', { ...argument, env }, ROOMY);
    try {
      return await filling.ask('fill');
    } finally {
      await filling.stop();
    }
  } finally {
    await projecting.stop();
  }
};

/** Events live for a moment: a large young generation spares most of the collector's work. */
const ROOMY = ['--max-semi-space-size=64'];

/** More appends are under way than a service has, so that a connection may be long in coming. */
const PATIENT = { DATABASE_CONNECT_TIMEOUT_S: '60' };
