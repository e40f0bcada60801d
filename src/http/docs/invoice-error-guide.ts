import { invoiceExamples } from '../openapi/invoice-examples.js';
import type { InvoiceBody } from '../openapi/schemas.js';

type Cancellation = NonNullable<InvoiceBody['cancellation']>;

/** Codes inside an invoice, a vocabulary apart from that of refusals (IERR-code). */
export type InvoiceErrorCode = NonNullable<InvoiceBody['error']>['code'] | NonNullable<Cancellation['error']>['code'];

type InvoiceErrorGuide = {
  /** Where the code appears. */
  place: string;
  cause: string;
  /** Whether issuing again is safe: a wrong guess makes two notes of one sale. */
  again: { isSafe: boolean; text: string };
  steps: readonly string[];
  /** The parts of an invoice that show it. */
  example: object;
};

const NEW_KEY =
  'Na nova emissão envie outra Idempotency-Key: com a mesma chave e o mesmo corpo, a API devolve esta mesma nota.';
const NEW_REFERENCE =
  'Se a nota tinha reference, envie outra: a reference de uma nota que falhou continua ocupada (nfse.reference_in_use).';

const examples = invoiceExamples('https://api.exemplo');

const ended = ({ id, status, failed_at, error }: InvoiceBody): object => ({ id, status, failed_at, error });

const withCancellation = ({ id, status, cancellation }: InvoiceBody): object => ({ id, status, cancellation });

/** What each code inside an invoice means and what its reader should do, in Portuguese. A code without an entry does not compile. */
export const invoiceErrorGuide: Readonly<Record<InvoiceErrorCode, InvoiceErrorGuide>> = {
  issue_failed: {
    place: 'error.code de uma nota com status failed',
    cause:
      'O sistema nacional recusou a nota, ou a nota não chegou a ele. Nenhum documento fiscal existe. A mensagem diz o motivo; quando a recusa tem um código do sistema nacional (E0188, por exemplo), ele vem no fim.',
    again: { isSafe: true, text: 'Sim. Nada foi emitido: corrija a causa e emita de novo.' },
    steps: ['Leia error.message e corrija a causa.', NEW_KEY, NEW_REFERENCE],
    example: ended(examples.failed.value),
  },
  'nfse.not_processed': {
    place: 'error.code de uma nota com status failed',
    cause:
      'A nota ficou 15 minutos na fila sem nenhuma tentativa de emissão. Nenhum documento fiscal existe. A causa não está nos dados da nota: é a habilitação da empresa, que o suporte corrige, ou uma interrupção do serviço ou do sistema nacional.',
    again: {
      isSafe: true,
      text: 'Sim, nada foi emitido. Mas enquanto a causa durar, outra nota terá o mesmo fim.',
    },
    steps: [
      'Fale com o suporte, que diz qual é a causa. Espere a correção da habilitação ou o fim da interrupção e emita de novo.',
      NEW_KEY,
      NEW_REFERENCE,
    ],
    example: ended(examples.not_processed.value),
  },
  'nfse.issue_interrupted': {
    place: 'error.code de uma nota com status indeterminate',
    cause:
      'A emissão começou e o resultado não pôde ser confirmado em 60 minutos. A nota pode ter sido autorizada, sem registro aqui.',
    again: {
      isSafe: false,
      text: 'Nunca. Outra emissão pode gerar duas notas válidas da mesma venda.',
    },
    steps: [
      'Não emita de novo: nem com outra Idempotency-Key, nem com outra reference, nem por outro sistema.',
      'Fale com o suporte e informe o id da nota.',
      'O suporte confere a nota no sistema nacional. Depois disso ela passa a issued ou a failed: consulte GET /v1/nfse/{id}. Só quando ela estiver em failed é seguro emitir de novo.',
    ],
    example: ended(examples.indeterminate.value),
  },
  'nfse.cancel_failed': {
    place: 'cancellation.error.code de uma nota com cancellation.status failed',
    cause:
      'O sistema nacional não confirmou o cancelamento. A nota continua issued, e pode estar válida ou cancelada. Só no modo de teste a mensagem traz o motivo do sistema nacional.',
    again: {
      isSafe: false,
      text: 'Nunca, enquanto o status não for canceled. Esta nota pode continuar válida, e a outra seria a segunda da mesma venda.',
    },
    steps: [
      'Não emita outra nota no lugar desta.',
      'Em produção o resultado é definitivo: fale com o suporte. Um novo pedido de cancelamento recebe 409 nfse.cancel_in_progress.',
      'No modo de teste, peça o cancelamento de novo com POST /v1/nfse/{id}/cancel.',
      'Consulte a nota de tempos em tempos: quando ela é cancelada por outro caminho, o status passa a canceled. Só então é seguro emitir outra, e não se o carimbo do PDF diz SUBSTITUÍDA.',
    ],
    example: withCancellation(examples.cancellation_failed.value),
  },
};
