import { describe, expect, it } from 'vitest';
import { PdfFailed } from '../../../src/adapters/pdf/renderer.js';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';
import { isOverloaded, isOwnOverload, isUnavailable } from '../../../src/runtime/roles/faults.js';
import { openRenderer } from '../../adapters/pdf/support/drawing.js';
import { marks, noteXml } from '../../adapters/pdf/support/notes.js';
import { BASE_URL, createHarness, issuedInvoice } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

type Linked = { links: { pdf: string } };

const path = '/v1/nfse/nfse_0191c3f0-0000-7000-8000-000000000001/pdf';

/** The download as the runtime wires it, with a rendering that ends in this way. */
const harnessWith = (render: () => Promise<Buffer>) =>
  createHarness({ downloadPdf: async () => ({ bytes: await render() }), isUnavailable });

const refusing = (error: Error) => harnessWith(() => Promise.reject(error));

describe('GET /v1/nfse/{id}/pdf 503', () => {
  it.each([
    ['too many wait', new TooManyWaiting('documents to be drawn')],
    ['drawing takes too long', new PdfFailed('timeout')],
    ['two threads died of it', new PdfFailed('worker_lost')],
    ['the process stops', new PdfFailed('closed')],
  ])('when %s: the client may come back, and is told when', async (_why, error) => {
    const response = await refusing(error).call(path);
    expect(await expectRefusal(response, 503, 'service_unavailable')).toMatchObject({ retryable: true });
    expect(commonHeadersOf(response)).toEqual({ 'retry-after': expect.stringMatching(/^[1-9]\d*$/) });
  });

  it('is held back where too much waits, so that refusals cannot keep the service busy', async () => {
    const held: unknown[] = [];
    let release = (): void => {};
    const harness = createHarness({
      downloadPdf: () => Promise.reject(new TooManyWaiting('documents to be drawn')),
      isUnavailable,
      isOverloaded,
      delayFault: (error) => {
        held.push(error);
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    });
    let isAnswered = false;
    const answer = harness.call(path).then((response) => {
      isAnswered = true;
      return response;
    });
    await expect.poll(() => held).toEqual([expect.any(TooManyWaiting)]);
    expect(isAnswered).toBe(false);
    release();
    expect((await answer).status).toBe(503);
  });

  it.each(['key', 'link'] as const)(
    'gives back the place in the limit that a full queue refused, by %s',
    async (way) => {
      const full = { is: true };
      const harness = createHarness({
        downloadPdf: async () => {
          if (full.is) throw new TooManyWaiting('documents to be drawn');
          return { bytes: Buffer.from('%PDF-') };
        },
        isUnavailable,
        isOverloaded,
        isOwnOverload,
        rateLimits: { write: 60, read: 3 },
      });
      const links = ((await (await harness.call(`/v1/nfse/${await issuedInvoice(harness)}`)).json()) as Linked).links;
      const link = links.pdf.replace(BASE_URL, '');
      const [target, key, openings] = way === 'key' ? [path, 'test' as const, 2] : [link, 'none' as const, 60];
      for (let at = 0; at < 2 * openings; at += 1) {
        const error = await expectRefusal(await harness.call(target, { key }), 503, 'service_unavailable');
        expect(error).toMatchObject({
          retryable: true,
          message: expect.stringContaining('no máximo 32 PDFs de cada vez'),
        });
      }
      full.is = false;
      const statuses: number[] = [];
      for (let at = 0; at <= openings; at += 1) statuses.push((await harness.call(target, { key })).status);
      expect(statuses).toEqual([...Array<number>(openings).fill(200), 429]);
      expect(harness.faults).toHaveLength(2 * openings);
    },
  );

  it('says that the PDFs take long, where the company itself asked for few', async () => {
    const harness = createHarness({
      downloadPdf: () => Promise.reject(new TooManyWaiting('documents to be drawn', 'all')),
      isUnavailable,
      isOverloaded,
      isOwnOverload,
    });
    const { message } = await expectRefusal(await harness.call(path), 503, 'service_unavailable');
    expect(message).toMatch(/^Os downloads estão demorando no momento\. .*não gastou cota\.$/);
  });

  it('names no number for the XML, which has no bound of 32', async () => {
    const downloadXml = () => Promise.reject(new TooManyWaiting('documents to be read'));
    const harness = createHarness({ downloadXml, isUnavailable, isOverloaded, isOwnOverload });
    const answer = await harness.call(path.replace('/pdf', '/xml'));
    const { message } = await expectRefusal(answer, 503, 'service_unavailable');
    expect(message).toMatch(/^Há downloads demais ao mesmo tempo\. Peça menos de cada vez, /);
  });

  it('is paced when the queue is full, because no quota bounds such refusals', async () => {
    const paced: string[] = [];
    const harness = createHarness({
      downloadPdf: () => Promise.reject(new TooManyWaiting('documents to be drawn')),
      isUnavailable,
      isOverloaded,
      pacing: { refusals: async (caller) => void paced.push(caller), pages: async () => undefined },
    });
    expect((await harness.call(path)).status).toBe(503);
    expect(paced).toHaveLength(1);
    const down = createHarness({
      downloadPdf: () => Promise.reject(new PdfFailed('timeout')),
      isUnavailable,
      pacing: { refusals: async (caller) => void paced.push(caller), pages: async () => undefined },
    });
    expect((await down.call(path)).status).toBe(503);
    expect(paced).toHaveLength(1);
  });

  it('for the call that finds no place in the queue, while the others get their document', async () => {
    const renderer = openRenderer({ workers: 1, permits: { ofOne: 2, inAll: 2 }, waitMs: 240_000, timeoutMs: 240_000 });
    // Each call asks for another document, because calls for the same document share one rendering.
    const marked = [marks(), marks({ canceled: true }), marks({ replaced: true })];
    const harness = harnessWith(() => renderer.render(noteXml('production'), marked.pop() ?? marks()));
    const statuses = (await Promise.all([1, 2, 3].map(() => harness.call(path)))).map(({ status }) => status);
    await renderer.close();
    expect(statuses.toSorted()).toEqual([200, 200, 503]);
  });
});

describe('GET /v1/nfse/{id}/pdf 500', () => {
  it.each(['not_a_note', 'layout'] as const)('when coming back would not help: %s', async (reason) => {
    await expectRefusal(await refusing(new PdfFailed(reason)).call(path), 500, 'internal_error');
  });
});
