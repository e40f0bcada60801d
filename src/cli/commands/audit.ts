import type { Command } from '../command.js';
import type { ProgressStream } from '../progress.js';
import { replay } from './audit-replay.js';
import { verifyCommand } from './audit-verify.js';

export const auditCommandsOn = (progress: ProgressStream): readonly Command[] => [verifyCommand(progress), replay];

export const auditCommands: readonly Command[] = auditCommandsOn(process.stderr);
