import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { acceptedBody, expectInvalid } from './post.js';

const ALL = '{{data}} {{mes}} {{mes_extenso}} {{mes_anterior}} {{mes_anterior_extenso}} {{ano}}';

/** The answer to this description at this instant, from a company whose certificate does not expire. */
const postAt = async (now: string, description: string): Promise<Response> => {
  const { call, company, state } = createHarness();
  if (company.certificate === undefined) throw new Error('the demo company has a certificate');
  Object.assign(company.certificate, { notBefore: '2020-01-01T00:00:00.000Z', notAfter: '2100-01-01T00:00:00.000Z' });
  state.now = now;
  return await call('/v1/nfse', { json: issueBodyOf({ description }) });
};

const NOON = '2026-11-21T15:00:00.000Z';

describe('POST /v1/nfse: markers', () => {
  it.each([
    ['2026-12-01T02:59:59.000Z', '30/11/2026 11 novembro 10 outubro 2026', '2026-11-30'],
    ['2026-12-01T02:59:59.999Z', '30/11/2026 11 novembro 10 outubro 2026', '2026-11-30'],
    ['2026-12-01T03:00:00.000Z', '01/12/2026 12 dezembro 11 novembro 2026', '2026-12-01'],
    ['2027-01-01T02:59:59.000Z', '31/12/2026 12 dezembro 11 novembro 2026', '2026-12-31'],
    ['2027-01-01T03:00:00.000Z', '01/01/2027 01 janeiro 12 dezembro 2027', '2027-01-01'],
    ['2027-02-01T03:00:00.000Z', '01/02/2027 02 fevereiro 01 janeiro 2027', '2027-02-01'],
    ['2027-03-01T02:59:59.000Z', '28/02/2027 02 fevereiro 01 janeiro 2027', '2027-02-28'],
    ['2028-02-29T03:00:00.000Z', '29/02/2028 02 fevereiro 01 janeiro 2028', '2028-02-29'],
    ['2028-03-01T02:59:59.000Z', '29/02/2028 02 fevereiro 01 janeiro 2028', '2028-02-29'],
    ['2028-03-01T03:00:00.000Z', '01/03/2028 03 março 02 fevereiro 2028', '2028-03-01'],
    ['2026-04-07T12:00:00.000Z', '07/04/2026 04 abril 03 março 2026', '2026-04-07'],
    ['2026-05-09T12:00:00.000Z', '09/05/2026 05 maio 04 abril 2026', '2026-05-09'],
    ['2026-06-10T12:00:00.000Z', '10/06/2026 06 junho 05 maio 2026', '2026-06-10'],
    ['2026-07-11T12:00:00.000Z', '11/07/2026 07 julho 06 junho 2026', '2026-07-11'],
    ['2026-08-12T12:00:00.000Z', '12/08/2026 08 agosto 07 julho 2026', '2026-08-12'],
    ['2026-09-13T12:00:00.000Z', '13/09/2026 09 setembro 08 agosto 2026', '2026-09-13'],
    ['2026-10-14T12:00:00.000Z', '14/10/2026 10 outubro 09 setembro 2026', '2026-10-14'],
  ])('a call received at %s', async (now, description, competence) => {
    expect(await acceptedBody(await postAt(now, ALL))).toMatchObject({ description, competence });
  });

  it.each([
    ['{{data}}{{data}}', '21/11/202621/11/2026'],
    ['{{{data}}}', '{21/11/2026}'],
    ['{{mes_{{ano}}}}', '{{mes_2026}}'],
    ['{{ data }} {{DATA}} {{Mes}} {{mês}} {{dia}}', '{{ data }} {{DATA}} {{Mes}} {{mês}} {{dia}}'],
    ['{data} {{data} {data}} {{}} {{', '{data} {{data} {data}} {{}} {{'],
    ['$& $1 {{ano}}', '$& $1 2026'],
  ])('%s is printed as %s', async (sent, printed) => {
    expect(await acceptedBody(await postAt(NOON, sent))).toHaveProperty('description', printed);
  });

  it('stay expanded as they were on the day of receipt', async () => {
    const { call, state } = createHarness();
    state.now = '2026-11-30T15:00:00.000Z';
    const { id } = await acceptedBody(await call('/v1/nfse', { json: issueBodyOf({ description: ALL }) }));
    state.now = '2026-12-02T15:00:00.000Z';
    expect(await (await call(`/v1/nfse/${id}`)).json()).toHaveProperty(
      'description',
      '30/11/2026 11 novembro 10 outubro 2026',
    );
  });
});

describe('POST /v1/nfse: the limit of a description with markers', () => {
  it('holds after them: 1998 characters become 2000, 1999 would become 2001', async () => {
    const body = await acceptedBody(await postAt(NOON, `${'x'.repeat(1990)}{{data}}`));
    expect(body.description).toHaveLength(2000);
    const error = await expectInvalid(await postAt(NOON, `${'x'.repeat(1991)}{{data}}`), ['description']);
    expect(error.message).toMatch(/2000.*marcadores/);
  });

  it('holds before them too: 2000 characters may shrink, 2001 may not', async () => {
    const marker = '{{mes_anterior_extenso}}';
    const body = await acceptedBody(await postAt(NOON, `${'x'.repeat(2000 - marker.length)}${marker}`));
    expect(body.description).toBe(`${'x'.repeat(2000 - marker.length)}outubro`);
    await expectInvalid(await postAt(NOON, `${'x'.repeat(2001 - marker.length)}${marker}`), ['description']);
  });
});
