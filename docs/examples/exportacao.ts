/**
 * Emite uma nota para um cliente no exterior, paga em moeda estrangeira.
 *
 *     npx tsx docs/examples/exportacao.ts fatura-77
 *
 * São dois valores: amount_in_cents é o que entrou em reais, e foreign_amount o que o cliente pagou. A API não converte
 * moedas. Os campos que faltam numa exportação vêm todos numa só resposta, na message de nfse.export_incomplete.
 */
import { createClient, type IssueRequest, mayIssueAgain } from 'nfse-issuance-service/client';
import { ApiError } from 'nfse-issuance-service/client/errors';

const [fatura = 'fatura-77'] = process.argv.slice(2);
// A Idempotency-Key só leva ASCII visível.
if (!/^[!-~]{1,64}$/.test(fatura)) {
  console.error('uso: npx tsx exportacao.ts FATURA, sem espaços nem acentos');
  process.exit(1);
}
const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

const pedido: IssueRequest = {
  amount_in_cents: 125_050,
  description: 'Software development',
  // A linha do serviço vendido, uma das que GET /v1/activities mostra.
  cnae: '6201501',
  service_code: '010101',
  reference: fatura,
  customer: {
    type: 'foreign',
    name: 'Acme Inc',
    // Sem identificação fiscal: tax_id_absence_reason, com exempt ou not_required.
    tax_id: '12-3456789',
    address: {
      street: 'Main Street',
      number: '1',
      district: 'Center',
      city: 'Springfield',
      state: 'Oregon',
      postal_code: '97477',
      country: 'US',
    },
  },
  foreign_amount: { currency: 'USD', amount_in_cents: 25_000 },
};

try {
  const nota = await cliente.issueAndWait(pedido, { idempotencyKey: `${fatura}-1` });
  if (nota.status === 'issued') console.log(`emitida em ${nota.foreign_amount?.currency}: ${nota.access_key}`);
  else if (nota.status === 'canceled') console.log(`a nota foi emitida e está cancelada: ${nota.access_key}`);
  else if (mayIssueAgain(nota)) console.log(`recusada, corrija e emita com outra chave: ${nota.error?.message}`);
  else console.log(`não emita de novo, chame o suporte: ${nota.id}`);
} catch (erro) {
  // Com mayHaveArrived a nota pode ter nascido: rodar de novo é seguro, porque a chave será a mesma.
  if (!(erro instanceof ApiError) || erro.mayHaveArrived) throw erro;
  for (const { code, message } of erro.details.errors ?? [erro.details]) console.log(`${code}: ${message}`);
  process.exitCode = 1;
}
