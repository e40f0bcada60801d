/**
 * Makes the pictures of the README from a running service: node --import tsx test/tools/pictures.ts
 * Needs pdftoppm (poppler-utils) and Chromium.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChromium } from '../support/chromium.js';
import { startSampleService } from './documents/sample-service.js';
import { ROOT } from './root.js';

const FOLDER = join(ROOT, 'docs/pictures');

const REQUEST = {
  amount_in_cents: 150_000,
  description: 'Consultoria em tecnologia, {{mes_extenso}} de {{ano}}',
  customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
  reference: 'pedido-1001',
};

const folder = await mkdtemp(join(tmpdir(), 'nfse-pictures-'));
const service = await startSampleService(['--import', import.meta.resolve('tsx'), join(ROOT, 'src/main.ts')], folder);
const { API = '', KEY = '', CONTROL = '' } = service.environment;
const browser = await openChromium();
try {
  await mkdir(FOLDER, { recursive: true });
  const json = { 'content-type': 'application/json' };
  const authorization = { authorization: `Bearer ${KEY}` };
  const order = JSON.stringify({ on: 'issue', kind: 'lost_after_commit' });
  await fetch(`${CONTROL}/_control/faults`, { method: 'POST', headers: json, body: order });
  const accepted = await fetch(`${API}/v1/nfse`, {
    method: 'POST',
    headers: { ...json, ...authorization },
    body: JSON.stringify(REQUEST),
  });
  const { id } = (await accepted.json()) as { id: string };
  await service.settled([id]);

  const pdf = join(folder, 'nota.pdf');
  const document = await fetch(`${API}/v1/nfse/${id}/pdf`, { headers: authorization });
  await writeFile(pdf, Buffer.from(await document.arrayBuffer()));
  execFileSync('pdftoppm', ['-png', '-gray', '-singlefile', '-r', '72', pdf, join(FOLDER, 'danfse')]);

  const page = await browser.newPage({ viewport: { width: 1100, height: 1130 }, locale: 'pt-BR' });
  await page.goto(`${service.opsUrl}/console/invoices/${id}`);
  await page.screenshot({ path: join(FOLDER, 'console.png') });
} finally {
  await browser.close();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
