/**
 * Baixa o XML e o PDF de todas as notas de um mês para a pasta do contador.
 *
 *     npx tsx docs/examples/baixar-mes.ts 2026-11 livro.jsonl notas
 *
 * A API não lista notas por mês: o seu sistema guarda o id de cada 202. Aqui eles vêm do livro do lote noturno. O que já
 * foi baixado não é baixado de novo, e um arquivo só tem o seu nome quando está inteiro.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Invoice } from 'nfse-issuance-service/client';
import { isRefusal } from 'nfse-issuance-service/client/errors';

const [mes = new Date().toISOString().slice(0, 7), livro = 'livro.jsonl', pasta = 'notas'] = process.argv.slice(2);
const cliente = createClient({
  baseUrl: process.env.NFSE_URL ?? 'http://127.0.0.1:3000',
  key: process.env.NFSE_KEY ?? '',
});

// A última linha ainda pode estar sendo escrita.
const fatos = (await readFile(livro, 'utf8')).split('\n').slice(0, -1);
const ids = new Set(fatos.map((linha) => (JSON.parse(linha) as { id?: string }).id).filter((id) => id !== undefined));
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

let baixados = 0;
for (const id of ids) {
  const nota = await consultar(id);
  if (nota === undefined) {
    console.log(`${id}: a API não mostra a nota: a de teste é apagada depois de 7 dias; senão, confira a chave da API`);
    continue;
  }
  // competence é uma data de Brasília; o mês de issued_at, que é UTC, poderia ser outro.
  if (nota.access_key === undefined || nota.competence?.slice(0, 7) !== mes) continue;
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
