/**
 * Emite uma nota, espera o resultado e grava o XML e o PDF.
 *
 *     npx tsx docs/examples/emitir-e-esperar.ts pedido-2001 150000
 *
 * A chave de idempotência nasce do número do pedido. Por isso o programa pode rodar de novo depois de uma queda: a
 * segunda vez acha a nota da primeira.
 */
import { writeFile } from 'node:fs/promises';
import { createClient, mayIssueAgain } from 'nfse-issuance-service/client';
import { ApiError, NoAnswerError, StillWaitingError } from 'nfse-issuance-service/client/errors';

const [pedido = 'pedido-2001', centavos = '150000'] = process.argv.slice(2);
// Number leria "1500.00" como 1500 centavos, e a Idempotency-Key só leva ASCII visível.
if (!/^[!-~]{1,64}$/.test(pedido) || !/^[0-9]{1,16}$/.test(centavos)) {
  console.error(
    'uso: npx tsx emitir-e-esperar.ts PEDIDO CENTAVOS, o pedido sem espaços nem acentos, os centavos só com algarismos: 150000 é R$ 1.500,00',
  );
  process.exit(1);
}
/** A linha do serviço vendido, uma das que GET /v1/activities mostra. Sem ela a nota sairia na linha padrão da empresa. */
const LINHA = { cnae: '6201501', service_code: '010601' };

const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

/** Uma recusa prova só que este envio não emitiu: um de antes, que ficou sem resposta, pode ter emitido. */
const contarRecusa = async ({ code, details, requestId }: ApiError): Promise<void> => {
  const recusa = `${details.message} (${code}, ${requestId})`;
  if (code === 'route_not_found') {
    console.error(`NFSE_URL não é o endereço da API, corrija e rode de novo com o mesmo pedido: ${recusa}`);
    process.exitCode = 3;
    return;
  }
  const existente = await cliente.findByReference(pedido).catch(() => 'não se sabe' as const);
  if (existente === undefined) {
    console.error(`o pedido foi recusado: ${recusa}`);
    process.exitCode = 1;
  } else if (existente === 'não se sabe') {
    console.error(`recusado, mas a nota de um envio anterior pode existir, rode de novo com o mesmo pedido: ${recusa}`);
    process.exitCode = 3;
  } else {
    console.error(`recusado, e já há uma nota deste pedido, ${existente.id} (${existente.status}): ${recusa}`);
    process.exitCode = 2;
  }
};

try {
  const nota = await cliente.issueAndWait(
    {
      amount_in_cents: Number(centavos),
      description: 'Consultoria em tecnologia, {{mes_extenso}} de {{ano}}',
      ...LINHA,
      customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
      reference: pedido,
    },
    { idempotencyKey: `${pedido}-1` },
  );
  if (nota.status === 'issued') {
    // A barra de um pedido como 2026/15 vira %2F: o arquivo fica nesta pasta.
    const arquivo = encodeURIComponent(pedido);
    await writeFile(`${arquivo}.xml`, await cliente.download(nota.id, 'xml'));
    await writeFile(`${arquivo}.pdf`, await cliente.download(nota.id, 'pdf'));
    console.log(`emitida: ${nota.access_key}`);
  } else if (nota.status === 'canceled') {
    console.log(`a nota deste pedido foi emitida e está cancelada: ${nota.access_key}`);
  } else if (mayIssueAgain(nota)) {
    // failed: nenhum documento existe. Corrija a causa e emita com outra chave e outra reference.
    console.error(`recusada: ${nota.error?.message}`);
    process.exitCode = 1;
  } else {
    // indeterminate, ou um status que este programa não conhece: a nota pode existir. Nunca emita de novo.
    console.error(`sem resultado confirmado: chame o suporte e informe ${nota.id}`);
    process.exitCode = 2;
  }
} catch (erro) {
  if (erro instanceof ApiError && !erro.retryable) await contarRecusa(erro);
  else if (erro instanceof ApiError || erro instanceof NoAnswerError || erro instanceof StillWaitingError) {
    // A nota pode ter nascido, também quando uma repetição foi recusada. Rodar de novo é seguro, porque a chave será a mesma.
    console.error(`ainda sem resposta, rode de novo com o mesmo pedido: ${erro.message}`);
    process.exitCode = 3;
  } else {
    // Como um disco cheio, que não deixa gravar o PDF. O fim 1 diria que nada foi emitido.
    console.error(`rode de novo com o mesmo pedido: ${erro}`);
    process.exitCode = 3;
  }
}
