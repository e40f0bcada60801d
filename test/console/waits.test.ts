import { beforeEach, describe, expect, it } from 'vitest';
import { dpsStream, invoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { DEMO_CNPJ, demoCompany } from '../support/fixture/demo.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  cancelAttempted,
  cancelRequested,
  cancelUnknown,
  T0,
  unknown,
} from '../support/fixture/invoice.js';
import { type ConsoleHarness, consoleHarness } from '../support/harness/console.js';
import { appendTo } from '../support/harness/event-store.js';

const ID = '0b9a7a5e-3a44-4d5e-9f60-1c2d3e4f5a6b';

let harness: ConsoleHarness;
beforeEach(async () => {
  harness = await consoleHarness();
});

/** Names and values of the facts about what an invoice waits for. */
const waits = async (language: 'pt' | 'en', ...more: readonly InvoiceEvent[]) => {
  const stream = invoiceStream('live', DEMO_CNPJ, ID);
  const { version } = await harness.store.load(stream);
  if (version.kind === 'none')
    await appendTo(harness.store, stream, [accepted({ companyId: DEMO_CNPJ, invoiceId: ID }), ...more], T0);
  const { text } = await harness.visit(`/console/invoices/nfse_${ID}`, { headers: { 'accept-language': language } });
  const facts = [...text.matchAll(/<dt>((?:Next step|Held back|Próximo passo|Parado)[^<]*)<\/dt><dd>(.*?)<\/dd>/g)];
  return facts.map(([, name, value = '']) => `${name}: ${value.replaceAll(/<[^>]*>/g, '')}`);
};

describe('the page of an open invoice', () => {
  it('shows the next step, now or from when', async () => {
    expect(await waits('pt')).toEqual(['Próximo passo: envio agora']);
    harness = await consoleHarness();
    expect(await waits('en', attempted(1, 0), unknown(1, 1))).toEqual([
      'Next step: look-up at the authorizer from 2026-11-21 09:00:31.000 in 31 s',
    ]);
  });

  it('shows the certificate that is missing', async () => {
    harness.hasCertificate = false;
    expect(await waits('pt')).toEqual([
      'Próximo passo: envio agora, mas algo o segura',
      'Parado por: a empresa não tem certificado que possa ser usado. Guarde outro certificado.',
    ]);
  });

  it('shows the rest where what holds a send cannot be read, and reports the fault', async () => {
    Object.defineProperty(harness, 'hasCertificate', {
      get: () => {
        throw new Error('lost');
      },
    });
    expect(await waits('pt')).toEqual([]);
    expect(harness.faults).toEqual([new Error('lost')]);
    expect((await harness.visit(`/console/invoices/nfse_${ID}`)).status).toBe(200);
  });

  it('shows the certificate that the authorizer refuses', async () => {
    const { certificateId = '' } = demoCompany(DEMO_CNPJ).certificate ?? {};
    const since = at(-60);
    const refusal = { mode: 'live', companyId: DEMO_CNPJ, certificateId, reason: 'refused', seen: 3, since } as const;
    harness.refused.push({ ...refusal, lastAt: T0, probeAt: T0 });
    expect(await waits('pt')).toEqual([
      'Próximo passo: envio agora, mas algo o segura',
      'Parado por: o autorizador recusa o certificado da empresa desde 21/11/2026 08:59:00.000 há 1 min (refused). Guarde outro certificado.',
    ]);
    expect(await waits('en')).toEqual([
      'Next step: send now, but for what holds it back',
      'Held back by: the authorizer refuses the company&#39;s certificate since 2026-11-21 08:59:00.000 1 min ago (refused). Store another certificate.',
    ]);
  });

  it('shows the stopped series with the advice of the overview', async () => {
    const blocked = { type: 'DpsSeriesBlocked', data: { nextNumber: 8, number: 7, invoiceId: ID, at: T0 } } as const;
    const { series } = demoCompany(DEMO_CNPJ).registration.dps.live;
    await appendTo(harness.store, dpsStream('live', DEMO_CNPJ, series), [blocked], T0);
    expect(await waits('en')).toEqual([
      'Next step: send now, but for what holds it back',
      expect.stringMatching(
        /^Held back by: series \S+ sends nothing since .*put back, a later number would issue again .* There: nfse restore --mark, then nfse doctor --reconcile\. Else put/,
      ),
    ]);
  });

  it('shows the next step of a pending cancellation, and of what is over none', async () => {
    const issued = [attempted(1, 0), authorized(1, 1)];
    harness.clock.pass(102);
    const canceling = [cancelRequested(100), cancelAttempted(1, 100), cancelUnknown(1, 101)];
    expect(await waits('pt', ...issued, ...canceling)).toEqual([
      expect.stringMatching(
        /^Próximo passo do cancelamento: consulta ao autorizador a partir de 21\/11\/2026 09:02:11/,
      ),
    ]);
    harness = await consoleHarness();
    expect(await waits('pt', ...issued)).toEqual([]);
  });
});
