import type { Instant } from '../../domain/shared/time.js';
import type { Code } from '../messages.js';
import type { Tables } from '../options.js';
import type { Note } from '../state/ledger.js';
import type { Company, Municipality, Registers } from '../state/registry.js';
import type { Dps } from './dps.js';

/** What an environment holds about notes that a DPS names. */
export type Notes = {
  note(accessKey: string): Note | undefined;
  /** Types of the events on a note. */
  events(accessKey: string): readonly string[];
  /** True for a note of the other environment. */
  isElsewhere(accessKey: string): boolean;
};

/** Everything that a rule may look at. */
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

/** One rule of the official table; the message comes from the code. */
export type Rule = { code: Code; broken(context: RuleContext): boolean };
