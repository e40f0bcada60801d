/**
 * Cancela a nota de um pedido, enquanto o prazo permite.
 *
 *     npx tsx docs/examples/cancelar.ts pedido-2001
 *
 * O prazo não é calculado aqui: o campo cancelable_until existe só enquanto um pedido seria aceito. O POST de
 * cancelamento não tem chave de idempotência e sai uma única vez em cada execução; quando a resposta se perde, o cliente
 * consulta a nota, que diz se o pedido chegou. Se a nota não mostra cancellation e ainda tem cancelable_until, o pedido não
 * chegou: a execução seguinte pede de novo, e um segundo pedido nunca cancela duas vezes.
 */
import { createClient, mayIssueAgain } from 'nfse-issuance-service/client';
import { ApiError, NoAnswerError, StillWaitingError } from 'nfse-issuance-service/client/errors';

const [pedido = 'pedido-2001'] = process.argv.slice(2);
const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

const cancelar = async (): Promise<string> => {
  const nota = await cliente.findByReference(pedido);
  if (nota === undefined) return 'não há nota deste pedido';
  if (nota.status === 'canceled') return 'a nota já está cancelada';
  if (nota.cancellation?.status === 'pending') return 'o cancelamento já foi pedido: rode de novo daqui a pouco';
  if (nota.status === 'queued' || nota.status === 'processing')
    return `a nota está ${nota.status}: espere o resultado e peça o cancelamento depois`;
  if (mayIssueAgain(nota)) return 'a nota falhou: nada foi emitido, e não há o que cancelar';
  if (nota.cancelable_until === undefined)
    return `a nota está ${nota.status} e não pode ser cancelada pela API: depois do prazo, o suporte cancela no portal`;
  const motivo = { reason: 'service_not_provided', description: 'O cliente desistiu antes do início' } as const;
  const { cancellation } = await cliente.cancelAndWait(nota.id, motivo);
  if (cancellation?.status === 'succeeded') return 'cancelada';
  // failed: a nota continua valendo. Em produção é definitivo; outra nota para a mesma venda seria a segunda.
  return `o cancelamento falhou, chame o suporte: ${cancellation?.error?.message ?? ''}`;
};

/** Depois de um 5xx o pedido pode ter chegado; um 429 pede para esperar mais. */
const foiAdiado = (erro: unknown): boolean => erro instanceof ApiError && erro.retryable;

try {
  console.log(await cancelar());
} catch (erro) {
  if (erro instanceof ApiError && erro.code === 'nfse.cancel_window_closed')
    console.log('o prazo acabou: o suporte cancela no portal do sistema nacional');
  else if (erro instanceof NoAnswerError || erro instanceof StillWaitingError || foiAdiado(erro))
    console.log('ainda sem resultado: rode de novo mais tarde, que a nota é consultada antes de qualquer pedido');
  else throw erro;
}
