import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Outcome, refused, warned, withProblems } from '../../src/cli/command.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { renderTimeline } from '../../src/cli/commands/invoice.js';
import { findingLine } from '../../src/cli/findings.js';
import { runCommand } from '../../src/cli/run.js';
import type { Session } from '../../src/cli/session.js';
import { instant } from '../../src/domain/common/time.js';
import type { RecordedEvent } from '../../src/ports/event-log.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FORGED = 'x\n\nnothing is wrong\u2028\t';
const SHOWN = 'x\ufffd\ufffdnothing is wrong\ufffd\ufffd';

const run = async (argv: readonly string[], session: Partial<Session>) => {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  const commands = [...auditCommands(), ...eventCommands];
  const exit = await runCommand(argv, commands, async () => session as Session, terminal);
  return { exit, out: out.join('\n').split('\n'), json: out[0] ?? '', err };
};

describe('a line break in a value begins no line of a report', () => {
  it('of a finding, a refusal, a problem and a warning; the JSON has the value', () => {
    const problems = withProblems('a.json is wrong:', [FORGED]);
    expect(problems.text).toBe(`a.json is wrong:\n  ${SHOWN}`);
    expect(problems.json).toEqual({ error: 'a.json is wrong', problems: [FORGED] });
    const refusal: Outcome = refused(FORGED);
    expect([refusal.text, refusal.json]).toEqual([SHOWN, { error: FORGED }]);
    expect(warned('done', [FORGED])).toBe(`done\nwarning: ${SHOWN}`);
    expect(findingLine({ kind: 'broken_link', stream: FORGED, revision: 1, detail: FORGED })).toBe(
      `broken_link  ${SHOWN}@1  ${SHOWN}`,
    );
  });

  it('of a timeline', () => {
    const at = instant(0);
    const text = renderTimeline([{ at, event: FORGED, who: FORGED, evidence: 'a\nb' } as never]);
    expect(text.split('\n')).toHaveLength(1);
    expect(text).toContain(' a b');
  });

  it('of the events of a log', async () => {
    const event = {
      position: 1n,
      stream: FORGED,
      revision: 0,
      type: FORGED,
      data: {},
      metadata: { recordedAt: '2026-11-29T10:00:00.000Z', actor: FORGED },
    } as unknown as RecordedEvent;
    const log = { readLast: async () => [event] } as unknown as Session['log'];
    const { out } = await run(['events', 'tail'], { log });
    expect(out).toHaveLength(1);
    expect(out[0]).toContain(`${SHOWN}@0`);
    const { json } = await run(['events', 'tail', '--json'], { log });
    expect(JSON.parse(json)).toMatchObject({ events: [{ type: FORGED }] });
  });

  it('of the check of an export', async () => {
    const file = join(temporaryFolder(), 'log.ndjson');
    const at = '2026-11-29T10:00:00.000Z';
    const id = '3f0b8a52-5f0e-4f0c-9d4e-0c1f6a0b7d11';
    const event = {
      position: '1',
      stream: FORGED,
      revision: 0,
      type: FORGED,
      id,
      at,
      data: {},
      meta: { recordedAt: at },
    };
    writeFileSync(file, `${JSON.stringify(event)}\nno event\n`);
    const key = `ed25519:${Buffer.alloc(32, 7).toString('base64url')}`;
    const { exit, out } = await run(['audit', 'verify', '--file', file, '--public-key', key], {});
    expect(exit).toBe(1);
    expect(out.filter((line) => line.startsWith('nothing is wrong'))).toEqual([]);
    expect(out.join('\n')).toContain(SHOWN);
  });
});
