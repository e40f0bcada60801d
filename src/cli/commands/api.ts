import { apiSwitchedOffBy, type SwitchedOff, setApiSwitch } from '../../app/operator/reference-data/commands.js';
import { badUsage, type Command, done, textFlag } from '../command.js';

const MAX_REASON = 200;

const off: Command = {
  name: 'api off',
  summary: 'the kill switch: every route under /v1 answers 503; work in progress continues',
  options: { reason: { value: 'TEXT', help: 'why, for the log; never shown to clients' } },
  changes: true,
  run: async ({ flags, actor, session }) => {
    const reason = textFlag(flags, 'reason');
    if (reason !== undefined && (reason.length > MAX_REASON || /[\p{Cc}\p{Cs}]/u.test(reason)))
      return badUsage(`--reason is one line of at most ${MAX_REASON} characters`);
    const opened = await session();
    const changed = await setApiSwitch('off', reason, opened.companyDeps(actor));
    const standing = await apiSwitchedOffBy(opened);
    const json = { api: 'off', changed, ...standing, reason: standing?.reason ?? null };
    if (changed || standing === undefined) return done(changed ? 'the API is off' : 'the API was off already', json);
    const kept = reason === undefined ? '' : '; this stands, and the new reason was not recorded';
    return done(`the API was off already, ${switchedOffText(standing)}${kept}`, json);
  },
};

/** For a line about the kill switch: since when, by whom, why. */
export const switchedOffText = ({ since, by, reason }: SwitchedOff): string =>
  `since ${since}, by ${by}, ${reason === undefined ? 'without a reason' : `for the reason: ${reason}`}`;

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
