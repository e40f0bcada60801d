import { daysLeft, expiryWarning } from '../../domain/company/certificate-expiry.js';
import { parseInvoiceStream, publicInvoiceId } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { SupportRow } from '../../ports/support-reads.js';
import type { ParkedTap } from '../../ports/work-queue.js';
import { ageText, badge, secondsBetween, timeOf } from './format.js';
import { type Html, html } from './html.js';
import { form, type Notice, operatorField, type PageContext, page, ROOT } from './layout.js';
import { table } from './table.js';

export const indeterminatePage = (
  context: PageContext,
  { count, oldest, now }: { count: number; oldest: readonly SupportRow[]; now: Instant },
): Html =>
  page(
    context,
    { title: 'Indeterminate invoices' },
    html`<p>The authorizer never said what became of these. Settle each with evidence, on its page.${count > oldest.length ? html` The oldest ${oldest.length} of ${count}:` : ''}</p>
${table(
  'Oldest first',
  ['Invoice', 'Waits for', 'Company', 'Mode', 'Attempts', 'Created'],
  oldest.map((row) => indeterminateRow(row, now)),
  'No invoice waits for support.',
)}`,
  );

const indeterminateRow = ({ stream, createdAt, state }: SupportRow, now: Instant) => {
  const address = parseInvoiceStream(stream);
  const id = publicInvoiceId(address?.invoiceId ?? '');
  const outcome = state.kind === 'invoice' ? state.outcome : undefined;
  const since = outcome?.status === 'indeterminate' ? outcome.failedAt : createdAt;
  return [
    html`<a href="${ROOT}/invoices/${id}#settle">${id}</a>`,
    ageText(secondsBetween(since, now)),
    address?.companyId ?? '–',
    address?.mode ?? '–',
    state.kind === 'invoice' ? state.attempts.length : 0,
    timeOf(createdAt),
  ];
};

export const parkedPage = (context: PageContext, parked: readonly ParkedTap[], notice?: Notice): Html =>
  page(
    context,
    { title: 'Parked work', notice },
    parked.length === 0
      ? html`<p class="empty">Nothing is parked.</p>`
      : form(
          context,
          `${ROOT}/parked/retry`,
          html`<p>Work that was given up after many tries. Timers settle its invoices all the same; trying again does no harm.</p>
${operatorField(context, 'parked-operator')}
${table(
  'Parked, oldest first',
  ['Invoice', 'Work', 'Parked', 'Reason', 'Again'],
  parked.map(({ stream, kind, parkedAt, reason }) => {
    const address = parseInvoiceStream(stream);
    const id = address === undefined ? undefined : publicInvoiceId(address.invoiceId);
    const named = id ?? stream;
    return [
      id === undefined ? stream : html`<a href="${ROOT}/invoices/${id}">${id}</a>`,
      ...[kind, timeOf(parkedAt), reason],
      html`<button name="stream" value="${stream}" aria-label="Try ${kind} of ${named} again">Try again</button>`,
    ];
  }),
)}
<p><button name="stream" value="all" class="quiet">Try all of them again</button></p>`,
        ),
  );

export type CertificateLine = { cnpj: string; enabled: boolean; notAfter: Instant | undefined };

/** By days left, those without any certificate first. */
export const certificatesPage = (context: PageContext, lines: readonly CertificateLine[], now: Instant): Html =>
  page(
    context,
    { title: 'Certificates' },
    table(
      'By days left',
      ['Company', 'State', 'Days left', 'Ends', 'API'],
      [...lines]
        .sort((a, b) => ((a.notAfter ?? '') < (b.notAfter ?? '') ? -1 : 1))
        .map(({ cnpj, enabled, notAfter }) => [
          cnpj,
          stateOf(notAfter, now),
          notAfter === undefined ? '–' : daysLeft(notAfter, now),
          timeOf(notAfter),
          enabled ? 'enabled' : 'disabled',
        ]),
      'No company is registered.',
    ),
  );

const stateOf = (notAfter: Instant | undefined, now: Instant): Html => {
  if (notAfter === undefined) return badge('none on file', 'wait');
  const warning = expiryWarning(notAfter, now);
  if (warning === undefined) return badge('good', 'good');
  return warning.kind === 'expired' ? badge('expired', 'bad') : badge(`ends within ${warning.withinDays} d`, 'wait');
};
