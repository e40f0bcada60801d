import { html } from 'hono/html';
import type { Instant } from '../../domain/common/time.js';
import { daysLeft, expiryWarning } from '../../domain/company/certificate-expiry.js';
import { counted } from '../../lib/counted.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';
import { badge, companyOf, emptyText, type Html, modeText, nameOf, none, table, timeOf } from './elements.js';
import { type PageContext, page, ROOT } from './layout.js';

export type CertificateLine = {
  cnpj: string;
  enabled: boolean;
  notAfter: Instant | undefined;
  /** Its key cannot be used. */
  isUnusable: boolean;
};

/** The page lists at most this many companies. */
const LISTED = 200;

/** Companies that left without being disabled stay at the beginning for good, and would fill the page. */
const OVER_LISTED = 100;

type CertificateFacts = { lines: readonly CertificateLine[]; refused: readonly CertificateRefusal[]; typed: string };

/** Sorted by days left; companies without a certificate come first. Of many companies it lists 200, and the others are found by CNPJ. */
export const certificatesPage = (context: PageContext, { lines, refused, typed }: CertificateFacts): Html => {
  const { say, now } = context;
  const digits = typed.replaceAll(/[^0-9A-Za-z]/g, '').toUpperCase();
  const found = lines.filter(({ cnpj }) => cnpj.startsWith(digits));
  const listed = mostUrgent(found, now);
  const noCompany = say('Nenhuma empresa cadastrada.', 'No company is registered.');
  return page(
    context,
    { title: say('Certificados', 'Certificates') },
    html`${refusedList(context, refused)}${lines.length > LISTED ? finder(context, typed, found.length, listed.length) : none}${table(
      say('Por dias restantes', 'By days left'),
      [
        say('Empresa', 'Company'),
        say('Situação', 'State'),
        say('Dias restantes', 'Days left'),
        say('Termina', 'Ends'),
        'API',
      ],
      listed.map(({ cnpj, enabled, notAfter, isUnusable }) => [
        companyOf(context, cnpj),
        stateOf(context, notAfter, isUnusable),
        notAfter === undefined ? '–' : daysLeft(notAfter, now),
        timeOf(context, notAfter),
        enabled ? say('habilitada', 'enabled') : say('desabilitada', 'disabled'),
      ]),
      emptyText(
        context,
        'companies',
        lines.length === 0 ? noCompany : say('Nenhuma empresa tem este CNPJ.', 'No company has this CNPJ.'),
      ),
    )}`,
  );
};

/** Those that end first, as far as the page goes; of those that are over or missing the last of them. */
const mostUrgent = (lines: readonly CertificateLine[], now: Instant): readonly CertificateLine[] => {
  const sorted = lines.toSorted((a, b) => ((a.notAfter ?? '') < (b.notAfter ?? '') ? -1 : 1));
  if (sorted.length <= LISTED) return sorted;
  const isOver = ({ notAfter }: CertificateLine): boolean =>
    notAfter === undefined || expiryWarning(notAfter, now)?.kind === 'expired';
  const over = sorted.filter(isOver).slice(-OVER_LISTED);
  return [...over, ...sorted.filter((line) => !isOver(line)).slice(0, LISTED - over.length)];
};

const finder = ({ say }: PageContext, typed: string, found: number, listed: number): Html =>
  html`<form method="get" action="${ROOT}/certificates"><div class="fields">
<p class="field"><label for="cnpj">CNPJ</label><input id="cnpj" name="cnpj" value="${typed}" maxlength="40" autocomplete="off"></p>
</div><p><button>${say('Procurar', 'Search')}</button> <span class="hint">${counted(found, say('empresa', 'company'), say('empresas', 'companies'))}${
    listed < found
      ? say(
          `; aqui ${listed}: as ${OVER_LISTED} que venceram por último e as que terminam primeiro`,
          `; ${listed} of them here: the ${OVER_LISTED} that expired last, and those that end first`,
        )
      : ''
  }</span></p></form>`;

/** The sends of these companies are held back until the authorizer takes their certificate, or another one is stored. */
export const refusedList = (context: PageContext, refused: readonly CertificateRefusal[]): Html => {
  const { say } = context;
  return refused.length === 0
    ? html``
    : html`<ul>${refused.map(
        ({ companyId, mode, since, reason }) =>
          html`<li>${badge(say('recusado', 'refused'), 'bad')} ${say(
            `O autorizador recusa o certificado de ${nameOf(context, companyId)} (CNPJ ${companyId}) em ${modeText(context, mode)} desde`,
            `The authorizer refuses the certificate of CNPJ ${companyId} in ${mode} mode since`,
          )} ${timeOf(context, since)} (${reason}). ${say(
            'Suas notas esperam: guarde outro certificado.',
            'Its invoices wait: store another certificate.',
          )}</li>`,
      )}</ul>`;
};

const stateOf = ({ say, now }: PageContext, notAfter: Instant | undefined, isUnusable: boolean): Html => {
  if (notAfter === undefined) return badge(say('nenhum', 'none on file'), 'wait');
  if (isUnusable) return badge(say('não pode ser usado', 'cannot be used'), 'bad');
  const warning = expiryWarning(notAfter, now);
  if (warning === undefined) return badge(say('bom', 'good'), 'good');
  if (warning.kind === 'expired') return badge(say('vencido', 'expired'), 'bad');
  return badge(say(`termina em ${warning.withinDays} d`, `ends within ${warning.withinDays} d`), 'wait');
};
