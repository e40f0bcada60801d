import type { Instant } from '../../domain/common/time.js';
import type { Code } from '../messages.js';
import type { Tables } from '../options.js';
import type { Company, Municipality } from '../state/entries.js';
import type { Note } from '../state/ledger.js';
import type { Registers } from '../state/registry.js';
import type { Dps, Group } from './dps.js';

/** The notes of an environment, for the keys that a DPS names. */
type Notes = {
  note(accessKey: string): Note | undefined;
  /** Types of the events on a note. */
  events(accessKey: string): readonly string[];
  /** True for a note of the other environment. */
  isElsewhere(accessKey: string): boolean;
};

/** Everything that a rule can depend on. */
export type RuleContext = {
  dps: Dps;
  tpAmb: '1' | '2';
  /** The authorizer's clock. */
  now: Instant;
  tables: Tables;
  registers: Registers;
  notes: Notes;
  /** Parameters of the emitting municipality. */
  municipality: Municipality;
  /** Parameters of the municipality where the ISSQN is due. */
  incidence: Municipality;
  /** The emitter. */
  company: Company;
};

/** Rules of the annex by their codes, from which the messages follow. Each is true for a DPS that breaks it. */
export type Rules = { readonly [C in Code]?: (context: RuleContext) => boolean };

type RulesOfElement = { readonly [C in Code]?: (element: Group, context: RuleContext) => boolean };

/** Rules about the elements at `path`, which may repeat. A rule is broken when one element breaks it. */
export const rulesOfEach = (path: string, rules: RulesOfElement): Rules =>
  Object.fromEntries(
    Object.entries(rules).map(([code, isBrokenBy]) => [
      code,
      (context: RuleContext) => context.dps.each(path).some((element) => isBrokenBy(element, context)),
    ]),
  );
