import { verifyChain } from '../../app/audit/verify-chain.js';
import type { Command } from '../command.js';

/** Everything that this program ever writes; see the stream table of the architecture. */
export const ALL_STREAMS = [
  'nfse',
  'dps',
  'company-',
  'catalog-',
  'municipality-',
  'registry-',
  'system-',
  'anchor-',
] as const;

const verify: Command = {
  name: 'audit verify',
  positionals: [],
  summary: 'recompute the hash chain of every stream',
  options: {},
  changes: false,
  run: async ({ session }) => {
    const { streams, events, findings } = await verifyChain((await session()).log, ALL_STREAMS);
    const ok = findings.length === 0;
    const lines = findings.map(({ kind, stream, revision, detail }) => `${kind}  ${stream}@${revision}  ${detail}`);
    const summary = `${events} events in ${streams} streams: ${ok ? 'every hash and every link holds' : `${findings.length} findings`}`;
    return { exit: ok ? 0 : 1, text: [summary, ...lines].join('\n'), json: { ok, streams, events, findings } };
  },
};

export const auditCommands: readonly Command[] = [verify];
