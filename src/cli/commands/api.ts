import { setApiSwitch } from '../../app/operator/reference-data/commands.js';
import { badUsage, type Command, done, textFlag } from '../command.js';

const MAX_REASON = 200;

const off: Command = {
  name: 'api off',
  summary: 'the kill switch: every route under /v1 answers 503; work in progress continues',
  options: { reason: { type: 'string', help: 'why, for the log; never shown to clients' } },
  changes: true,
  run: async ({ flags, actor, session }) => {
    const reason = textFlag(flags, 'reason');
    if (reason !== undefined && (reason.length > MAX_REASON || /[\p{Cc}\p{Cs}]/u.test(reason)))
      return badUsage(`--reason is one line of at most ${MAX_REASON} characters`);
    const changed = await setApiSwitch('off', reason, (await session()).companyDeps(actor));
    return done(changed ? 'the API is off' : 'the API was off already', { api: 'off', changed });
  },
};

const on: Command = {
  name: 'api on',
  summary: 'open the API again after api off',
  changes: true,
  run: async ({ actor, session }) => {
    const changed = await setApiSwitch('on', undefined, (await session()).companyDeps(actor));
    return done(changed ? 'the API is on' : 'the API was on already', { api: 'on', changed });
  },
};

export const apiCommands: readonly Command[] = [off, on];
