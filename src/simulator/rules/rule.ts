import type { Instant } from '../../domain/shared/time.js';
import type { Code } from '../messages.js';
import type { Tables } from '../options.js';
import type { Company, Municipality } from '../state/registry.js';
import type { Dps } from './dps.js';

/** Everything that a rule may look at. */
export type RuleContext = {
  dps: Dps;
  tpAmb: '1' | '2';
  /** The authorizer's clock. */
  now: Instant;
  tables: Tables;
  /** Parameters of the emitting municipality. */
  municipality: Municipality;
  company: Company;
};

/** One rule of the official table; the message comes from the code. */
export type Rule = { code: Code; broken(context: RuleContext): boolean };

export const isMei = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/opSimpNac') === '2';

export const isMeEpp = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/opSimpNac') === '3';

export const isOutsideSimples = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/opSimpNac') === '1';

/** regApTribSN 1: federal taxes and ISSQN all inside the Simples. */
export const isAllInsideSimples = (context: RuleContext): boolean =>
  isMeEpp(context) && context.dps.text('prest/regTrib/regApTribSN') === '1';

export const isAbroad = ({ dps }: RuleContext): boolean =>
  dps.has('toma/end/endExt') || dps.has('interm/end/endExt') || dps.has('serv/locPrest/cPaisPrestacao');
