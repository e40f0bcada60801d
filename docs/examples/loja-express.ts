/**
 * O servidor de uma loja, com Express: quando um pedido é pago, a nota dele é emitida em segundo plano.
 *
 *     npx tsx docs/examples/loja-express.ts
 *     curl -d '{"centavos": 150000}' -H 'Content-Type: application/json' http://127.0.0.1:8080/pedidos/1042/pago
 *     curl http://127.0.0.1:8080/pedidos/1042
 *
 * A API não tem webhooks: quem emite consulta. O pedido e a sua chave são gravados antes do envio, e depois de uma queda
 * o servidor retoma o que ficou aberto.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import express from 'express';
import { createClient, mayIssueAgain } from 'nfse-issuance-service/client';
import { ApiError, isRefusal } from 'nfse-issuance-service/client/errors';

type Pedido = { centavos: number; chave: string; nota?: string; situacao: string; aviso?: string };

const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

/** A linha do serviço vendido, uma das que GET /v1/activities mostra. Sem ela a nota sairia na linha padrão da empresa. */
const LINHA = { cnae: '6201501', service_code: '010601' };

// No lugar do banco de dados da loja.
const ARQUIVO = 'pedidos.json';
const pedidos = new Map<string, Pedido>(existsSync(ARQUIVO) ? JSON.parse(readFileSync(ARQUIVO, 'utf8')) : []);
const gravar = (numero: string, pedido: Pedido): void => {
  pedidos.set(numero, pedido);
  writeFileSync(`${ARQUIVO}.novo`, JSON.stringify([...pedidos]));
  renameSync(`${ARQUIVO}.novo`, ARQUIVO);
};

/** Uma recusa que não é do pedido: a linha ou o cadastro da empresa é corrigido, e o pedido continua aberto. */
const ehDaEmpresa = (erro: ApiError): boolean =>
  /^(?:company\.|nfse\.(?:municipal|nbs|cnae|service_code))/.test(erro.code);

const NAO_MOSTRADA =
  'A API não mostra a nota: a de teste é apagada depois de 7 dias, e outra precisa de outra reference. Em produção, chame o suporte.';

const emitir = async (numero: string, pedido: Pedido): Promise<void> => {
  const reference = `loja-${numero}`;
  const corpo = { amount_in_cents: pedido.centavos, description: `Pedido ${numero}`, reference, ...LINHA };
  try {
    const id = pedido.nota ?? (await cliente.issue(corpo, { idempotencyKey: pedido.chave })).id;
    gravar(numero, { ...pedido, nota: id });
    const nota = await cliente.waitForOutcome(id);
    const pronta = nota.status === 'issued' || nota.status === 'canceled';
    const conselho = mayIssueAgain(nota) ? 'Corrija e emita com outra chave e outra reference.' : 'Chame o suporte.';
    const aviso = pronta ? {} : { aviso: `${nota.error?.message ?? ''} ${conselho}` };
    gravar(numero, { ...pedido, nota: id, situacao: nota.status, ...aviso });
  } catch (erro) {
    const foiRecusado = erro instanceof ApiError && (erro.status === 400 || erro.status === 422) && !ehDaEmpresa(erro);
    const jaExiste = isRefusal(erro, 'nfse.reference_in_use') || isRefusal(erro, 'idempotency_key_reuse');
    // A chave vale 24 horas, e uma recusa prova só que este envio não emitiu: a nota de um envio anterior é achada pela reference.
    if (foiRecusado || jaExiste) {
      const existente = await cliente.findByReference(reference);
      if (existente !== undefined && existente.amount_in_cents !== pedido.centavos)
        return gravar(numero, { ...pedido, situacao: 'diferente', aviso: `A nota ${existente.id} tem outro valor.` });
      if (existente !== undefined) return await emitir(numero, { ...pedido, nota: existente.id });
    }
    if (foiRecusado) return gravar(numero, { ...pedido, situacao: 'recusado', aviso: erro.details.message });
    if (jaExiste || isRefusal(erro, 'not_found'))
      return gravar(numero, { ...pedido, ...pedidos.get(numero), situacao: 'não mostrada', aviso: NAO_MOSTRADA });
    // Sem resposta a nota pode ter nascido, também quando uma repetição foi recusada: daqui a um minuto, com a mesma chave.
    console.error(`pedido ${numero}: ${erro}`);
    setTimeout(retomar, 60_000, numero);
  }
};

const retomar = (numero: string): void => {
  const pedido = pedidos.get(numero);
  if (pedido?.situacao !== 'aberto') return;
  emitir(numero, pedido).catch((erro) => {
    console.error(`pedido ${numero}: ${erro}`);
    setTimeout(retomar, 60_000, numero);
  });
};

const app = express();
app.use(express.json());

app.post('/pedidos/:numero/pago', (pergunta, resposta) => {
  const { numero } = pergunta.params;
  const centavos: unknown = pergunta.body?.centavos;
  if (!/^[!-~]{1,50}$/.test(numero) || typeof centavos !== 'number' || !Number.isSafeInteger(centavos)) {
    resposta
      .status(400)
      .json({ aviso: 'centavos é um número inteiro, e o número do pedido não tem espaços nem acentos.' });
    return;
  }
  // O aviso de pagamento pode chegar duas vezes: só o primeiro cria o pedido.
  if (!pedidos.has(numero)) {
    gravar(numero, { centavos, chave: `loja-${numero}-1`, situacao: 'aberto' });
    retomar(numero);
  }
  resposta.status(202).json(pedidos.get(numero));
});

app.get('/pedidos/:numero', (pergunta, resposta) => {
  const pedido = pedidos.get(pergunta.params.numero);
  resposta.status(pedido === undefined ? 404 : 200).json(pedido ?? { aviso: 'Não há este pedido.' });
});

for (const numero of pedidos.keys()) retomar(numero);
const servidor = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`loja em http://127.0.0.1:${Object(servidor.address()).port}`);
});
