/**
 * Baixa o XML e o PDF de todas as notas de um mês para a pasta do contador.
 *
 *     npx tsx docs/examples/baixar-mes.ts 2026-11 livro.jsonl notas
 *
 * A API não lista notas por mês: o seu sistema guarda o id de cada 202. Aqui eles vêm do livro do lote noturno. O que já
 * foi baixado não é baixado de novo, e um arquivo só tem o seu nome quando está inteiro. Uma nota sem resultado pode ainda ser
 * emitida: o programa a mostra e termina com 1, porque a pasta não está completa.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Invoice } from 'nfse-issuance-service/client';
import { isRefusal } from 'nfse-issuance-service/client/errors';

// O mês de Brasília, como em competence.
const hoje = new Date().toLocaleDateString('sv-SE', { timeZone: 'America/Sao_Paulo' });
const [mes = hoje.slice(0, 7), livro = 'livro.jsonl', pasta = 'notas'] = process.argv.slice(2);
const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

// A última linha ainda pode estar sendo escrita.
const linhas = (await readFile(livro, 'utf8')).split('\n').slice(0, -1);
const fatos = linhas.map((linha) => JSON.parse(linha) as { chave: string; id?: string; fim?: string });
const ids = new Set(fatos.map(({ id }) => id).filter((id) => id !== undefined));
const destino = join(pasta, mes);
await mkdir(destino, { recursive: true });

const consultar = async (id: string): Promise<Invoice | undefined> => {
  try {
    return await cliente.get(id);
  } catch (erro) {
    if (isRefusal(erro, 'not_found')) return undefined;
    throw erro;
  }
};

const respondidas = new Set(fatos.filter(({ id, fim }) => (id ?? fim) !== undefined).map(({ chave }) => chave));
const abertas = [...new Set(fatos.map(({ chave }) => chave))]
  .filter((chave) => !respondidas.has(chave))
  .map((chave) => `${chave}: enviada sem resposta, rode o lote de novo`);
let baixados = 0;
for (const id of ids) {
  const nota = await consultar(id);
  if (nota === undefined) {
    console.log(`${id}: a API não mostra a nota: a de teste é apagada depois de 7 dias; senão, confira a chave da API`);
    continue;
  }
  // competence é uma data de Brasília; o mês de issued_at, que é UTC, poderia ser outro.
  if (nota.competence?.slice(0, 7) !== mes || nota.status === 'failed') continue;
  if (nota.access_key === undefined) {
    const ehAberta = nota.status === 'queued' || nota.status === 'processing';
    abertas.push(
      `${id}: ${nota.status}, ${ehAberta ? 'rode de novo mais tarde' : 'não emita de novo e chame o suporte'}`,
    );
    continue;
  }
  for (const formato of ['xml', 'pdf'] as const) {
    const arquivo = join(destino, `${nota.access_key}.${formato}`);
    // O PDF de uma nota cancelada depois do último download mudou.
    if (existsSync(arquivo) && !(formato === 'pdf' && nota.status === 'canceled')) continue;
    try {
      await writeFile(`${arquivo}.parte`, await cliente.download(id, formato));
      await rename(`${arquivo}.parte`, arquivo);
      baixados += 1;
    } catch (erro) {
      // No modo de teste uma nota cancelada não tem mais documentos.
      if (!isRefusal(erro, 'nfse.not_issued')) throw erro;
    }
  }
}
console.log(`${baixados} arquivos novos em ${destino}`);
if (abertas.length > 0) {
  console.error(`faltam ${abertas.length} notas sem resultado:\n${abertas.join('\n')}`);
  process.exitCode = 1;
}
