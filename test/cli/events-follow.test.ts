import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendAudit } from '../../src/app/audit/audit-trail.js';
import { apiCommands } from '../../src/cli/commands/api.js';
import { eventCommandsUntil } from '../../src/cli/commands/events.js';
import { runCommand } from '../../src/cli/run.js';
import { auditDeps } from '../../src/cli/session.js';
import { eventually } from '../support/eventually.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { loseEndUnder } from '../support/lost-end.js';
import { describeWithPostgres } from '../support/postgres.js';

describeWithPostgres('events tail --follow, when the log is lost', () => {
  let operator: Operator;
  const stop = new AbortController();
  beforeAll(async () => {
    operator = await openOperator(apiCommands);
    await operator.run('api', 'off');
  });
  afterAll(async () => {
    stop.abort();
    await operator.close();
  });

  const follow = (lookEveryMs?: number) => {
    const [out, err]: [string[], string[]] = [[], []];
    const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
    const commands = eventCommandsUntil(() => stop.signal, lookEveryMs);
    return {
      out,
      err,
      ended: runCommand(['events', 'tail', '--follow'], commands, async () => operator.session, terminal),
    };
  };
  /** Lets the service's role in again, or shuts it out as a server that has stopped would. */
  const admit = async (isAdmitted: boolean): Promise<void> => {
    const name = new URL(operator.database.connectionString).pathname.slice(1);
    await operator.database.admin.query(`alter database ${name} connection limit ${isAdmitted ? -1 : 0}`);
    if (!isAdmitted) await operator.database.breakConnections();
  };

  it('goes on after a log that is back soon', async () => {
    const { out } = follow();
    await expect.poll(() => out.length).toBe(1);
    await operator.database.breakConnections();
    await eventually(() =>
      operator.run('api', 'on').then(
        () => true,
        () => false,
      ),
    );
    await expect.poll(() => out.length).toBe(2);
  });

  it('ends with exit 3 and a sentence when the log has lost events that it has shown', async () => {
    const end = (await operator.session.log.head()) ?? 0n;
    const { out, err, ended } = follow();
    const shown = () => out.length;
    await expect.poll(shown).toBe(2);
    await operator.run('api', 'off');
    await expect.poll(shown).toBe(3);
    await loseEndUnder(operator.session.log, operator.database, end);
    expect(await ended).toBe(3);
    expect(err).toEqual([expect.stringContaining('the event log has lost events that are shown above')]);
  });

  it('ends with exit 3 and a sentence when the log does not come back', async () => {
    const { out, err, ended } = follow(10);
    await expect.poll(() => out.length).toBe(2);
    await admit(false);
    try {
      expect(await ended).toBe(3);
      expect(err).toEqual(['the event log cannot be reached any more: the service or its database has stopped']);
    } finally {
      await admit(true);
    }
  });

  it('writes no control character of an event, as text or as JSON', async () => {
    const seen = { command: 'events show', subject: 'x' };
    await appendAudit('PersonalDataRevealed', seen, auditDeps(operator.session, 'a\u001b[31m\u009b'));
    const out: string[] = [];
    const terminal = { out: (text: string) => void out.push(text), err: () => undefined };
    const commands = eventCommandsUntil(() => AbortSignal.abort());
    for (const form of [[], ['--json']])
      await runCommand(
        ['events', 'tail', '--follow', '--limit', '1', ...form],
        commands,
        async () => operator.session,
        terminal,
      );
    expect(out).toEqual([
      expect.stringContaining('support:a\ufffd[31m\ufffd'),
      expect.stringContaining('"support:a\\u001b[31m\\u009b"'),
    ]);
  });
});
