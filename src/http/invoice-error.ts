import type { Mode } from '../domain/common/ids.js';
import { type Instant, isBefore } from '../domain/common/time.js';
import { cancellationReasonOf, mainReason, TEXTS_OF_DECEMBER_2026 } from '../domain/invoice/messages/reasons.js';
import { type Invoice, sentCount } from '../domain/invoice/state.js';
import type { InvoiceBody } from './openapi/schemas.js';

/**
 * `error` of the invoice, our code and a Portuguese text for end users (IERR-code, IERR-message); undefined unless it failed or is indeterminate. The
 * authorizer's raw text is never shown. A rejection shows the authorizer's codes in both modes (SVC-6, SVC-9).
 */
export const invoiceError = (invoice: Invoice): InvoiceBody['error'] => {
  const { outcome } = invoice;
  if (outcome.status === 'indeterminate') return { code: 'nfse.issue_interrupted', message: INTERRUPTED };
  if (outcome.status !== 'failed') return undefined;
  if (outcome.code === 'nfse.not_processed') return { code: outcome.code, message: NOT_PROCESSED };
  if (outcome.reason === 'customer_name_missing') return { code: outcome.code, message: nameMissing(outcome.failedAt) };
  if (outcome.reason === 'document_invalid') return { code: outcome.code, message: DOCUMENT_INVALID };
  const message = outcome.codes.length > 0 ? rejectionMessage(outcome.codes, outcome.failedAt) : withoutCode(invoice);
  return { code: outcome.code, message };
};

type CancellationError = NonNullable<NonNullable<InvoiceBody['cancellation']>['error']>;

/** `error` of the cancellation. Live: always the generic text. Test: with the authorizer's reason (SVC-10.5). */
export const cancellationError = (codes: readonly string[], mode: Mode): CancellationError => {
  const reason = mode === 'test' && codes.length > 0 ? ` Motivo do autorizador: ${named(codes)}` : '';
  return {
    code: 'nfse.cancel_failed',
    message: `O cancelamento não foi confirmado pelo sistema nacional.${reason} Não emita outra nota: fale com o suporte.`,
  };
};

export const NOT_PROCESSED =
  'A emissão não chegou a ser iniciada. A causa não está nos dados da nota, e sim na habilitação da empresa ou numa interrupção (do serviço ou do sistema nacional): fale com o suporte.';

/** Of an invoice that failed earlier, the text that its client was shown. */
const nameMissing = (failedAt: Instant): string =>
  isBefore(failedAt, TEXTS_OF_DECEMBER_2026) ? EARLIER_NAME_MISSING : NAME_MISSING;

const NAME_MISSING =
  'O cadastro da Receita não informou o nome deste CNPJ (não o tem ou não respondeu), e customer.name não foi enviado. Envie customer.name e emita de novo, com outra Idempotency-Key e outra reference.';

const EARLIER_NAME_MISSING =
  'O cadastro não deu o nome do cliente: não tem o CNPJ ou não respondeu. Nenhum nome foi enviado. Envie customer.name e emita de novo.';

const DOCUMENT_INVALID =
  'A nota não cabe na forma que o sistema nacional exige e não foi enviada. Nada foi emitido. Confira a descrição e o cliente; se estiverem certos, fale com o suporte.';

export const INTERRUPTED =
  'O resultado da emissão não pôde ser confirmado e a nota pode ter sido autorizada. Não emita de novo: fale com o suporte.';

/** For the authorizer's codes of an invoice that failed at this instant. */
export const rejectionMessage = (codes: readonly string[], failedAt: Instant): string =>
  `${mainReason(codes, failedAt) ?? UNKNOWN_REASON} (${codes.join(', ')})`;

const withoutCode = ({ attempts }: Invoice): string => (sentCount(attempts) === 0 ? NEVER_SENT : NOTHING_ISSUED);

const NEVER_SENT = 'A nota não chegou ao sistema nacional e nada foi emitido. É seguro emitir de novo.';

const NOTHING_ISSUED = 'A nota foi enviada ao sistema nacional, que não emitiu nada. É seguro emitir de novo.';

const UNKNOWN_REASON =
  'O sistema nacional recusou a nota e nada foi emitido. Confira os dados enviados e emita de novo.';

const named = (codes: readonly string[]): string =>
  codes
    .map((code) => {
      const reason = cancellationReasonOf(code);
      return reason === undefined ? `${code}.` : `${code}: ${reason}`;
    })
    .join(' ');
