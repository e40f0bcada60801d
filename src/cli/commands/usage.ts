import { companyUsage, type UsageCounts } from '../../app/usage/company-usage.js';
import { badUsage, type Command, done, refused, textFlag } from '../command.js';

const usage: Command = {
  name: 'company usage',
  positionals: ['CNPJ'],
  summary: 'invoices accepted, issued, failed and canceled in a month, by mode; live is what is billed',
  options: { month: { type: 'string', help: 'YYYY-MM, as the calendar of Brasília has it; required' } },
  changes: false,
  run: async ({ positionals: [cnpj = ''], flags, session }) => {
    const month = textFlag(flags, 'month') ?? '';
    if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return badUsage('--month must be YYYY-MM');
    const { readModel, log } = await session();
    if ((await readModel.company(cnpj))?.state.kind !== 'company') return refused(`no company ${cnpj}`);
    const counts = await companyUsage(log, cnpj, month);
    const lines = [
      `${cnpj}  ${month}`,
      `      ${COLUMNS.map((column) => column.padStart(10)).join('')}`,
      ...(['live', 'test'] as const).map(
        (mode) => `${mode.padEnd(6)}${COLUMNS.map((column) => String(counts[mode][column]).padStart(10)).join('')}`,
      ),
    ];
    return done(lines.join('\n'), { cnpj, month, ...counts });
  },
};

const COLUMNS = ['accepted', 'issued', 'failed', 'canceled'] as const satisfies readonly (keyof UsageCounts)[];

export const usageCommands: readonly Command[] = [usage];
