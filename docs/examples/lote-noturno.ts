/**
 * Um lote noturno: emite uma nota para cada linha de um CSV. Pode morrer e rodar de novo a qualquer momento, e não emite
 * nenhuma linha duas vezes.
 *
 *     npx tsx docs/examples/lote-noturno.ts docs/examples/vendas.csv livro.jsonl
 *
 * O livro é um arquivo com um fato por linha. A chave de idempotência e o corpo entram nele antes do envio, e a repetição
 * manda os mesmos. Uma linha que falhou é emitida de novo com a coluna tentativa aumentada: isso lhe dá outra chave e
 * outra reference. O CSV inteiro é conferido antes do primeiro envio: um texto que não é UTF-8, com aspas de planilha, ou
 * cortado num ponto e vírgula, sairia errado na nota, e 1500.00 seria lido como 1500 centavos. Uma linha com o pedido e a
 * tentativa de outra, ou mudada depois que entrou no livro, é uma venda que se perderia em silêncio.
 */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createClient, type Invoice, type IssueRequest } from 'nfse-issuance-service/client';
import { ApiError, isRefusal } from 'nfse-issuance-service/client/errors';

/** A linha do serviço destas vendas, uma das que GET /v1/activities mostra. Vendas de vários serviços precisam dela numa coluna. */
const LINHA = { cnae: '6201501', service_code: '010601' };

type Fato = { chave: string; corpo?: IssueRequest; id?: string; fim?: string; mensagem?: string };

const [csv = 'vendas.csv', livro = 'livro.jsonl'] = process.argv.slice(2);
const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

// 1. O que as execuções anteriores anotaram. Uma queda pode ter cortado a última linha, que então não vale.
const notas = new Map<string, Fato>();
const juntar = (fato: Fato): void => void notas.set(fato.chave, { ...notas.get(fato.chave), ...fato });
const texto = existsSync(livro) ? readFileSync(livro, 'utf8') : '';
const inteiro = texto.slice(0, texto.lastIndexOf('\n') + 1);
for (const linha of inteiro.split('\n').slice(0, -1)) juntar(JSON.parse(linha));
const arquivo = openSync(livro, 'a');
ftruncateSync(arquivo, Buffer.byteLength(inteiro));

/** Volta só quando o fato está no disco. */
const anotar = (fato: Fato): void => {
  juntar(fato);
  writeSync(arquivo, `${JSON.stringify(fato)}\n`);
  fsyncSync(arquivo);
};

// 2. O CSV é conferido.
const parar = (aviso: string): never => {
  console.error(`${aviso}; nada foi enviado`);
  process.exit(1);
};
const ler = (): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(csv));
  } catch (erro) {
    if (!(erro instanceof TypeError)) throw erro;
    return parar(`${csv} não está em UTF-8: salve o arquivo como "CSV UTF-8" e rode de novo`);
  }
};
const CABECALHO = 'pedido;tentativa;documento;cliente;centavos;descricao';
const [primeira = '', ...linhas] = ler().split('\n');
if (primeira.trim() !== CABECALHO) parar(`${csv}, linha 1: não é o cabeçalho "${CABECALHO}"`);
const vendas = linhas
  .map((linha, indice) => ({ numero: indice + 2, campos: linha.trim().split(';') }))
  .filter(({ campos }) => campos.length > 1 || campos[0] !== '');
const novas = new Map<string, { numero: number; corpo: IssueRequest }>();
for (const { numero, campos } of vendas) {
  const onde = `${csv}, linha ${numero}`;
  if (campos.some((campo) => campo.trimStart().startsWith('"')))
    parar(`${onde}: um campo começa com aspas, como uma planilha as põe, e este programa não as lê: tire as aspas`);
  if (campos.length !== 6)
    parar(`${onde}: ${campos.length} campos em vez de 6 (cada ponto e vírgula separa dois campos)`);
  const [pedido, tentativa, document = '', name = '', centavos = '', description = ''] = campos;
  if (!/^[0-9]{1,16}$/.test(centavos))
    parar(`${onde}: centavos leva só algarismos (150000 é R$ 1.500,00), e não "${centavos}"`);
  const reference = `lote-${pedido}-${tentativa}`;
  if (!/^[!-~]{1,64}$/.test(reference))
    parar(`${onde}: pedido e tentativa não levam espaços nem acentos, e têm juntos 58 caracteres no máximo`);
  // Cada campo entra só quando a coluna tem valor: um nome sem documento vai na nota, e o nome de um CNPJ pode faltar.
  const customer = { ...(document === '' ? {} : { document }), ...(name === '' ? {} : { name }) };
  const dados = { amount_in_cents: Number(centavos), description, reference, ...LINHA };
  const corpo = document + name === '' ? dados : { ...dados, customer };
  const igual = novas.get(reference);
  if (igual !== undefined)
    parar(`${onde}: mesmo pedido e mesma tentativa da linha ${igual.numero}; outra venda precisa de outro pedido`);
  const anotado = notas.get(reference)?.corpo;
  if (anotado !== undefined && JSON.stringify(anotado) !== JSON.stringify(corpo))
    parar(
      `${onde}: mudou depois que entrou em ${livro}; se a nota falhou, aumente a tentativa; senão, desfaça a mudança`,
    );
  novas.set(reference, { numero, corpo });
}

// 3. As linhas novas entram no livro.
for (const [chave, { corpo }] of novas) if (!notas.has(chave)) anotar({ chave, corpo });

// Notas que existiram e que a API não mostra. Não entram no livro, porque a chave da API pode ser a errada.
const naoMostradas = new Set<string>();

/** Se a nota achada pela reference é desta linha. Os marcadores de uma descrição a API troca, e então ela não se compara. */
const ehDaLinha = (nota: Invoice, { amount_in_cents, description, customer }: IssueRequest): boolean =>
  nota.amount_in_cents === amount_in_cents &&
  (nota.description === description || description.includes('{{')) &&
  nota.customer?.document === customer?.document &&
  // O nome de um CNPJ na nota pode ser o do cadastro da Receita.
  (customer?.document !== undefined || nota.customer?.name === customer?.name);

/** Uma recusa que não é da venda: LINHA ou o cadastro da empresa é corrigido, e a venda continua aberta. */
const ehDaEmpresa = (erro: unknown): erro is ApiError =>
  erro instanceof ApiError && /^(?:company\.|nfse\.(?:municipal|nbs|cnae|service_code))/.test(erro.code);
let parada = '';

// 4. O que ainda não tem id é enviado. Quando passa do limite por minuto, o cliente espera o Retry-After da API.
for (const { chave, corpo, id, fim } of notas.values()) {
  if (corpo === undefined || id !== undefined || fim !== undefined) continue;
  try {
    anotar({ chave, id: (await cliente.issue(corpo, { idempotencyKey: chave })).id });
  } catch (erro) {
    if (ehDaEmpresa(erro)) {
      parada = erro.details.message;
      break;
    }
    const foiRecusada = erro instanceof ApiError && (erro.status === 400 || erro.status === 422);
    const jaExiste = isRefusal(erro, 'nfse.reference_in_use') || isRefusal(erro, 'idempotency_key_reuse');
    if (!foiRecusada && !jaExiste) throw erro;
    // A chave vale 24 horas, e uma recusa prova só que este envio não emitiu: a nota de uma execução anterior é achada pela reference.
    const existente = await cliente.findByReference(chave);
    if (existente !== undefined)
      anotar({ chave, id: existente.id, ...(ehDaLinha(existente, corpo) ? {} : { fim: 'diferente' }) });
    else if (foiRecusada) anotar({ chave, fim: 'recusada', mensagem: erro.details.message });
    else naoMostradas.add(chave);
  }
}

// 5. As abertas são consultadas em rodízio, até o resultado de cada uma.
const abertas = (): Fato[] =>
  [...notas.values()].filter(({ chave, id, fim }) => id !== undefined && fim === undefined && !naoMostradas.has(chave));
const consultar = async (id: string): Promise<Invoice | undefined> => {
  try {
    return await cliente.get(id);
  } catch (erro) {
    if (isRefusal(erro, 'not_found')) return undefined;
    throw erro;
  }
};
while (abertas().length > 0) {
  for (const { chave, id = '' } of abertas()) {
    const nota = await consultar(id);
    if (nota === undefined) naoMostradas.add(chave);
    else if (nota.status !== 'queued' && nota.status !== 'processing')
      anotar({ chave, fim: nota.status, mensagem: nota.error?.message ?? '' });
  }
  if (abertas().length > 0) await new Promise((acordar) => setTimeout(acordar, 3_000));
}
closeSync(arquivo);

// 6. O relatório da manhã.
for (const { chave, id, fim, mensagem } of notas.values()) {
  if (naoMostradas.has(chave))
    console.log(
      `${chave}: a API não mostra a nota: a de teste é apagada depois de 7 dias; senão, confira a chave da API`,
    );
  else if (fim === undefined)
    console.log(`${chave}: aberta, rode de novo quando o suporte tiver corrigido o cadastro da empresa`);
  else if (fim === 'issued' || fim === 'canceled') console.log(`${chave}: emitida`);
  else if (fim === 'failed' || fim === 'recusada')
    console.log(`${chave}: falhou, corrija a linha e aumente a tentativa: ${mensagem}`);
  else if (fim === 'diferente')
    console.log(
      `${chave}: a nota ${id}, com outro valor, descrição ou cliente, já tem esta reference: confira a linha; só outra venda recebe outro pedido`,
    );
  else console.log(`${chave}: ${fim}, não emita de novo e chame o suporte`);
}
if (parada !== '') {
  console.error(`o envio parou, chame o suporte: ${parada}`);
  process.exitCode = 1;
}
