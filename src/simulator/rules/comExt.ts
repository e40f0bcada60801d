import { isAbroad, isExport } from './facts.js';
import type { Rule, RuleContext } from './rule.js';

/** Foreign trade (annex I, group comExt). */
export const comExtRules: readonly Rule[] = [
  {
    code: 'E0330',
    broken: (context) => (isAbroad(context) || isExport(context)) && !context.dps.has('serv/comExt'),
  },
  { code: 'E0333', broken: (context) => comExt(context, 'mdPrestacao') === '0' },
  { code: 'E0341', broken: (context) => comExt(context, 'mecAFComexP') === '00' },
  { code: 'E0343', broken: (context) => comExt(context, 'mecAFComexT') === '00' },
  { code: 'E0345', broken: (context) => comExt(context, 'movTempBens') === '0' },
  { code: 'E0352', broken: (context) => comExt(context, 'movTempBens') === '2' && !hasImport(context) },
  {
    code: 'E0354',
    broken: (context) => comExt(context, 'movTempBens') === '1' && (hasImport(context) || hasExportRecord(context)),
  },
  { code: 'E0356', broken: (context) => comExt(context, 'movTempBens') === '3' && !hasExportRecord(context) },
];

const comExt = ({ dps }: RuleContext, name: string): string | undefined => dps.text(`serv/comExt/${name}`);

const hasImport = ({ dps }: RuleContext): boolean => dps.has('serv/comExt/nDI');

const hasExportRecord = ({ dps }: RuleContext): boolean => dps.has('serv/comExt/nRE');
