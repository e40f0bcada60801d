import type { Mode } from '../shared/ids.js';
import type { Invoice } from './state.js';

/** `error` of an invoice, or of its cancellation: own code, Portuguese text for end users (spec "Invoice error object"). */
export type InvoiceError = { code: string; message: string };

/**
 * The raw authorizer text never shows. A rejection ends in the authorizer's code in both modes: the spec promises it of test mode
 * (section "What the service does" 6) and knows no difference between the modes' bodies but the links (readings 53 and 54).
 */
export const invoiceError = (invoice: Invoice): InvoiceError | undefined => {
  const { outcome } = invoice;
  if (outcome.status === 'indeterminate') return { code: 'nfse.issue_interrupted', message: INTERRUPTED };
  if (outcome.status !== 'failed') return undefined;
  if (outcome.code === 'nfse.not_processed') return { code: outcome.code, message: NOT_PROCESSED };
  if (outcome.reason === 'customer_name_missing') return { code: outcome.code, message: NAME_MISSING };
  return { code: outcome.code, message: rejectionMessage(outcome.codes) };
};

/** Live: always the generic text. Test: with the authorizer's reason (spec "What the service does" 10). */
export const cancellationError = (codes: readonly string[], mode: Mode): InvoiceError => {
  const reason = mode === 'test' && codes.length > 0 ? ` Motivo do autorizador: ${named(codes)}` : '';
  return {
    code: 'nfse.cancel_failed',
    message: `O cancelamento não foi confirmado pelo sistema nacional.${reason} Não emita outra nota: fale com o suporte.`,
  };
};

const NOT_PROCESSED =
  'A emissão não chegou a ser iniciada. A causa é a habilitação da empresa, não os dados da nota: fale com o suporte.';

const NAME_MISSING =
  'O CNPJ do cliente não foi encontrado no cadastro e nenhum nome foi enviado. Envie customer.name e emita de novo.';

const INTERRUPTED =
  'O resultado da emissão não pôde ser confirmado e a nota pode ter sido autorizada. Não emita de novo: fale com o suporte.';

const rejectionMessage = (codes: readonly string[]): string => {
  const reason = codes.map(reasonOf).find((text) => text !== undefined);
  if (codes.length === 0)
    return 'A nota não chegou ao sistema nacional e nada foi emitido. Emita de novo com segurança.';
  return `${reason ?? 'O sistema nacional recusou a nota e nada foi emitido. Confira os dados enviados e emita de novo.'} (${codes.join(', ')})`;
};

const named = (codes: readonly string[]): string =>
  codes
    .map((code) => {
      const reason = reasonOf(code);
      return reason === undefined ? `${code}.` : `${code}: ${reason}`;
    })
    .join(' ');

/** The codes come from outside: `toString` must find no text. */
const reasonOf = (code: string): string | undefined =>
  Object.hasOwn(knownReasons, code) ? knownReasons[code] : undefined;

/** What a shop owner can do, for the codes met most (domain.md section 17). */
const knownReasons: Record<string, string> = {
  E0008: 'A data de emissão ficou adiante do relógio do sistema nacional. Emita de novo em alguns minutos.',
  E0037: 'O município do prestador não está no cadastro do convênio nacional. Fale com o suporte.',
  E0038: 'O convênio do município do prestador não está ativo. Fale com o suporte.',
  E0039: 'O município do prestador não usa o emissor nacional. Fale com o suporte.',
  E0116: 'O município exige a inscrição municipal do prestador. Informe-a ao suporte e emita de novo.',
  E0120: 'A inscrição municipal informada não existe no cadastro nacional do município. Peça ao suporte que a corrija.',
  E0160: 'O regime tributário do cadastro difere do registrado no Simples Nacional. Peça ao suporte que o corrija.',
  E0188: 'O CNPJ do cliente é inválido. Corrija customer.document e emita de novo.',
  E0190: 'O CNPJ do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.',
  E0202: 'O cliente não pode ser o próprio prestador. Corrija customer.document e emita de novo.',
  E0206: 'O CPF do cliente é inválido. Corrija customer.document e emita de novo.',
  E0207: 'O CPF do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.',
  E0310: 'O código de serviço não existe na lista nacional. Fale com o suporte.',
  E0312: 'O município não administra este código de serviço. Use outra atividade ou fale com o suporte.',
  E0316: 'O código NBS da atividade não existe na tabela nacional. Fale com o suporte.',
  E0822: 'O prazo do município para cancelar a nota terminou.',
  E0840: 'Outro evento já está vinculado à nota e impede o cancelamento.',
};
