import { readDocument } from '../../app/operator/privacy/document.js';
import { type InvoiceHoldings, type PrivacyReport, reportOn } from '../../app/operator/privacy/report.js';
import { counted } from '../../lib/counted.js';
import { printableLines } from '../../lib/printable.js';
import { badUsage, type Command, reported, textFlag, unknownCompany } from '../command.js';
import { wholeFlag } from '../flags.js';
import { withProgress } from '../progress.js';
import { tellRowsBehind } from '../rows-behind.js';
import { typedText } from '../terminal.js';

const LISTED = 1000;

export const privacyCommand: Command = {
  name: 'privacy report',
  positionals: ['DOCUMENT'],
  summary:
    'where a CPF, CNPJ or NIF (- reads it from stdin) is stored, why and until when; this is recorded with the actor',
  options: {
    company: { value: 'CNPJ', help: 'CNPJ of a company: its invoices and registration only, and the tax registry' },
    limit: { value: 'N', help: `how many invoices to list at most (default ${LISTED}); all are counted` },
  },
  changes: true,
  run: async ({ positionals: [typed = ''], flags, actor, session, terminal }) => {
    const read = await typedText(typed, 'CPF, CNPJ or NIF', terminal);
    if ('problem' in read) return badUsage(read.problem);
    const document = readDocument(read.text);
    if (document === undefined)
      return badUsage('DOCUMENT is a CPF, a CNPJ or a foreign NIF, or - with one of them on stdin');
    const limit = wholeFlag(flags, 'limit', LISTED);
    if (limit === undefined) return badUsage('--limit takes a whole number');
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['companies', 'invoices']);
    const companyId = textFlag(flags, 'company');
    // "no invoice names it" would be a wrong answer about a company that was mistyped.
    if (companyId !== undefined && (await opened.readModel.company(companyId)) === undefined)
      return unknownCompany(companyId);
    const found = await withProgress(terminal, (progress) =>
      reportOn(document, limit, {
        ...opened,
        companyId,
        actor: `support:${actor}`,
        onProgress: ({ events, share }) => progress('privacy', share, `${events} events`),
      }),
    );
    return reported(found.unopened.length === 0, textOf(found, companyId), { ...jsonOf(found), company: companyId });
  },
};

const textOf = (found: PrivacyReport, companyId: string | undefined): string => {
  const { document, totals, invoices, registry, companies, unreadable, unopened } = found;
  const all = totals.reduce((sum, total) => sum + total.invoices, 0);
  const lines = [
    `${document.kind} on record as ${document.mark}`,
    ...(companyId === undefined ? [] : [`of the company ${companyId} alone:`]),
    all === 0 ? 'no invoice names it' : `${counted(all, 'invoice names', 'invoices name')} it:`,
    ...totals.map(({ companyId, mode, invoices: count }) => `  ${companyId} ${mode}  ${count}`),
    ...invoices.flatMap(linesOf),
    ...(all > invoices.length ? [`and ${all - invoices.length} more (--limit)`] : []),
    ...registry.map((stream) => `tax registry: ${stream}`),
    ...companies.map((cnpj) => `company of this service: ${cnpj}, in its registration`),
    ...(unreadable === 0
      ? []
      : [
          `${counted(unreadable, 'invoice')} whose key is gone (a test day's, or one that was lost): its customer can no longer be known`,
        ]),
    ...(unopened.length === 0 ? [] : ['NOT COMPLETE, because these fields cannot be opened:', ...unopened]),
    '',
    ...found.holdings.map(({ place, holds, why, until }) => `${place}: ${holds}. Why: ${why}. Until: ${until}`),
  ];
  return printableLines(lines);
};

const linesOf = ({
  id,
  company,
  mode,
  stream,
  foundIn,
  events,
  inReadModel,
  test,
}: InvoiceHoldings): readonly string[] => [
  `${id}  ${company} ${mode}  ${stream}  in its ${foundIn.join(', ')}`,
  ...events.map(({ revision, type, sealed }) => `  ${String(revision).padStart(4)}  ${type}: ${sealed.join(', ')}`),
  `  read model: ${inReadModel ? 'a row' : 'no row'}`,
  `  until: ${test === undefined ? 'see live invoices' : untilOf(test)}`,
];

const untilOf = ({ ends, isOver, unreadable, keyIsKept }: NonNullable<InvoiceHoldings['test']>): string =>
  [
    isOver ? `${ends} is over, waits for the sweeper` : ends,
    keyIsKept
      ? `copies open until the sweeper destroys the key of its day, due on ${unreadable}`
      : 'no copy opens any more',
  ].join('; ');

const jsonOf = ({ invoices, totals, ...rest }: PrivacyReport) => ({
  ...rest,
  totals: totals.map(({ companyId, mode, invoices: count }) => ({ company: companyId, mode, invoices: count })),
  invoices: invoices.map(({ foundIn, inReadModel, test, ...invoice }) => ({
    ...invoice,
    found_in: foundIn,
    in_read_model: inReadModel,
    ...(test === undefined
      ? {}
      : { test: { ends: test.ends, is_over: test.isOver, unreadable: test.unreadable, key_is_kept: test.keyIsKept } }),
  })),
});
