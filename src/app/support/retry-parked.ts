import type { StreamName } from '../../domain/shared/ids.js';
import type { ParkedTap } from '../../ports/work-queue.js';
import type { AuditDeps } from '../audit/append-audit.js';
import { recordSupportAct } from '../audit/support-act.js';

/** What is parked, of whatever process. */
export type ParkedWork = {
  parked(): Promise<readonly ParkedTap[]>;
  retryParked(stream: StreamName): Promise<boolean>;
};

/** Puts on record who had it tried again, then has it; false, and nothing recorded, when nothing of this stream is parked. */
export const retryParked = async (stream: StreamName, queue: ParkedWork, deps: AuditDeps): Promise<boolean> => {
  if (!(await queue.parked()).some((tap) => tap.stream === stream)) return false;
  await recordSupportAct({ retryParked: stream }, deps);
  return await queue.retryParked(stream);
};
