/**
 * O servidor de uma loja, com Hono e sem banco de dados: a nota é achada pelo número do pedido.
 *
 *     npx tsx docs/examples/loja-hono.ts
 *     curl -d '{"centavos": 150000}' -H 'Content-Type: application/json' http://127.0.0.1:8080/pedidos/1042/nota/1
 *     curl http://127.0.0.1:8080/pedidos/1042/nota/1
 *     curl -o nota.pdf http://127.0.0.1:8080/pedidos/1042/nota/1/pdf
 *
 * O número no fim é o da tentativa. A segunda só é aceita quando a primeira terminou em failed. A página da loja
 * consulta este servidor, e a chave da API fica nele.
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createClient, mayIssueAgain } from 'nfse-issuance-service/client';
import { ApiError } from 'nfse-issuance-service/client/errors';

const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

/** A linha do serviço vendido, uma das que GET /v1/activities mostra. Sem ela a nota sairia na linha padrão da empresa. */
const LINHA = { cnae: '6201501', service_code: '010601' };

const nome = (pedido: string, tentativa: number): string => `hono-${pedido}-${tentativa}`;

const app = new Hono();

app.post('/pedidos/:pedido/nota/:tentativa{[1-9]}', async (c) => {
  // Uma página de outro site manda um POST sem este tipo ao servidor de quem a abre, e emitiria uma nota.
  if (!/^application\/json(?:;|$)/i.test(c.req.header('content-type') ?? ''))
    return c.json({ erro: 'o corpo não é application/json', repetir: false }, 415);
  const pedido = c.req.param('pedido');
  if (!/^[!-~]{1,50}$/.test(pedido)) return c.json({ erro: 'o pedido tem espaços ou acentos', repetir: false }, 400);
  const tentativa = Number(c.req.param('tentativa'));
  const anterior = tentativa === 1 ? undefined : await cliente.findByReference(nome(pedido, tentativa - 1));
  if (tentativa > 1 && (anterior === undefined || !mayIssueAgain(anterior)))
    return c.json({ erro: 'a tentativa anterior não terminou em failed' }, 409);
  const existente = await cliente.findByReference(nome(pedido, tentativa));
  if (existente !== undefined) return c.json(existente);
  const corpo = await c.req.json<{ centavos?: number } | null>();
  if (typeof corpo?.centavos !== 'number') return c.json({ erro: 'falta o número centavos', repetir: false }, 400);
  const reference = nome(pedido, tentativa);
  const nota = await cliente.issue(
    { amount_in_cents: corpo.centavos, description: `Pedido ${pedido}`, reference, ...LINHA },
    { idempotencyKey: reference },
  );
  return c.json(nota, 202, { 'Retry-After': '3' });
});

app.get('/pedidos/:pedido/nota/:tentativa{[1-9]}', async (c) => {
  const nota = await cliente.findByReference(nome(c.req.param('pedido'), Number(c.req.param('tentativa'))));
  if (nota === undefined) return c.json({ erro: 'não há esta nota' }, 404);
  return c.json({ status: nota.status, podeEmitirDeNovo: mayIssueAgain(nota), erro: nota.error?.message });
});

app.get('/pedidos/:pedido/nota/:tentativa{[1-9]}/pdf', async (c) => {
  const nota = await cliente.findByReference(nome(c.req.param('pedido'), Number(c.req.param('tentativa'))));
  if (nota?.links === undefined) return c.json({ erro: 'a nota não foi emitida' }, 404);
  const pdf = await cliente.download(nota.id, 'pdf');
  return c.body(new Uint8Array(pdf), 200, { 'Content-Type': 'application/pdf' });
});

// Uma falha da API chega à página com o mesmo sentido: repetir ou não.
app.onError((erro, c) => {
  if (erro instanceof SyntaxError) return c.json({ erro: 'o corpo não é JSON', repetir: false }, 400);
  const definitivo = erro instanceof ApiError && !erro.retryable;
  return c.json({ erro: erro.message, repetir: !definitivo }, definitivo ? 422 : 503, { 'Retry-After': '3' });
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 8080) }, ({ port }) => {
  console.log(`loja em http://127.0.0.1:${port}`);
});
