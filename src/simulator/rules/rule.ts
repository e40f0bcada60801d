import type { Instant } from '../../domain/shared/time.js';
import type { Code } from '../messages.js';
import type { Tables } from '../options.js';
import type { Note } from '../state/ledger.js';
import type { Company, Municipality, Registers } from '../state/registry.js';
import type { Dps } from './dps.js';

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

/** One rule of the annex; its message follows from its code. */
export type Rule = { code: Code; broken(context: RuleContext): boolean };
