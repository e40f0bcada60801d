import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorCatalogue } from '../../../src/domain/common/error-catalogue.js';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

type Draft = Record<string, unknown> & { customer?: Record<string, unknown> };

/**
 * One fault that makes a good request a 422. `kind`: the fault needs a request with such a customer. `slot`: the fault is the value of this
 * field, so it excludes other faults of the field.
 */
type Fault = {
  code: ErrorCode;
  kind?: 'br' | 'foreign';
  slot?: 'cnae' | 'service_code' | 'document';
  spoil(harness: Harness, draft: Draft): void;
};

const registration = (changes: object) => (harness: Harness) => {
  harness.company.registration = { ...harness.company.registration, ...changes };
};

const municipality = (changes: object) => (harness: Harness) => {
  const { municipality: before } = harness.state;
  if (before !== undefined) harness.state.municipality = { ...before, ...changes };
};

const sent = (changes: object) => (_harness: Harness, draft: Draft) => Object.assign(draft, changes);

const ofCustomer = (changes: object) => (_harness: Harness, draft: Draft) => {
  draft.customer = { ...draft.customer, ...changes };
};

const within = (parent: 'address' | 'foreign_amount', changes: object) => (_harness: Harness, draft: Draft) => {
  const owner = parent === 'address' ? draft.customer : draft;
  if (owner !== undefined) owner[parent] = { ...(owner[parent] as object), ...changes };
};

/** The 422 of `POST /v1/nfse`, in the order in which they are answered (POST-responses). */
const faults: readonly Fault[] = [
  { code: 'company.issuer_not_enabled', spoil: registration({ automaticIssuance: false }) },
  { code: 'company.issuer_not_configured', spoil: registration({ issuerConfigured: false }) },
  { code: 'company.issuer_not_approved', spoil: registration({ issuerApproved: false }) },
  {
    code: 'company.certificate_missing',
    spoil: ({ company }) => {
      delete company.certificate;
    },
  },
  {
    code: 'nfse.municipality_not_covered',
    spoil: ({ state }) => {
      state.municipality = undefined;
    },
  },
  { code: 'nfse.cnae_not_allowed', slot: 'cnae', spoil: sent({ cnae: '9602501' }) },
  { code: 'nfse.service_code_unknown', slot: 'service_code', spoil: sent({ service_code: '999999' }) },
  { code: 'nfse.service_code_not_allowed', slot: 'service_code', spoil: sent({ service_code: '140101' }) },
  { code: 'nfse.cnae_missing_ctribnac', slot: 'cnae', spoil: sent({ cnae: '6399200' }) },
  { code: 'nfse.cnae_without_default', slot: 'cnae', spoil: sent({ cnae: '6202300' }) },
  { code: 'nfse.cnae_missing_nbs', slot: 'cnae', spoil: sent({ cnae: '6204000' }) },
  { code: 'nfse.nbs_invalid', slot: 'cnae', spoil: sent({ cnae: '6311900' }) },
  {
    code: 'nfse.municipal_registration_missing',
    spoil: (harness) => {
      municipality({ requiresRegistration: true })(harness);
      registration({ municipalRegistration: {} })(harness);
    },
  },
  { code: 'nfse.customer_type_conflict', kind: 'foreign', spoil: ofCustomer({ document: '12345678909' }) },
  { code: 'nfse.customer_type_conflict', kind: 'br', spoil: ofCustomer({ tax_id: '1' }) },
  { code: 'nfse.export_incomplete', kind: 'foreign', spoil: ofCustomer({ name: undefined }) },
  { code: 'nfse.country_unsupported', kind: 'foreign', spoil: within('address', { country: 'BR' }) },
  { code: 'nfse.currency_unsupported', kind: 'foreign', spoil: within('foreign_amount', { currency: 'BRL' }) },
  { code: 'nfse.foreign_amount_invalid', kind: 'foreign', spoil: within('foreign_amount', { amount_in_cents: 0 }) },
  {
    code: 'nfse.customer_required',
    kind: 'br',
    slot: 'document',
    spoil: (harness, draft) => {
      municipality({ requiresCustomer: true })(harness);
      draft.customer = { ...draft.customer, document: undefined };
    },
  },
  {
    code: 'nfse.customer_name_required',
    kind: 'br',
    slot: 'document',
    spoil: ofCustomer({ document: '12345678909', name: undefined }),
  },
];

/** A request with all of these faults, posted; its answer. */
const postWith = async (chosen: readonly Fault[], key: 'test' | 'live' = 'test'): Promise<Response> => {
  const harness = createHarness();
  const abroad = chosen.some(({ kind }) => kind === 'foreign');
  const draft = (abroad ? exportBodyOf() : issueBodyOf({ customer: { name: 'Ana' } })) as Draft;
  // A municipality that is not covered comes last, because such a municipality has no demands.
  for (const { spoil } of [...chosen].reverse()) spoil(harness, draft);
  return await harness.call('/v1/nfse', { key, json: draft });
};

/** A customer is of one kind, and a field has one value. */
const canCoexist = (chosen: readonly Fault[]): boolean => {
  const kinds = chosen.flatMap(({ kind }) => kind ?? []);
  const slots = chosen.flatMap(({ slot }) => slot ?? []);
  return new Set(kinds).size < 2 && new Set(slots).size === slots.length;
};

/** Each fault with the later faults that can occur together with it, for both kinds of customers. */
const neighbours = faults.flatMap((earlier, index) => {
  const beside = faults.slice(index + 1).filter((later) => canCoexist([earlier, later]));
  const next = (['br', 'foreign'] as const).flatMap((of) => beside.find(({ kind }) => (kind ?? of) === of) ?? []);
  return [...new Set(next)].map((later) => ({ earlier, later }));
});

describe('POST /v1/nfse: which 422 wins', () => {
  it.each(faults)('alone: $code ($kind)', async (fault) => {
    await expectRefusal(await postWith([fault]), 422, fault.code);
  });

  it.each(neighbours)('$earlier.code before $later.code', async ({ earlier, later }) => {
    await expectRefusal(await postWith([earlier, later]), 422, earlier.code);
  });

  it('the first one of any number of them', async () => {
    const some = fc.subarray([...faults], { minLength: 2 }).filter(canCoexist);
    await fc.assert(
      fc.asyncProperty(some, async (chosen) => {
        await expectRefusal(await postWith(chosen), 422, chosen[0]?.code ?? '');
      }),
      { numRuns: 300 },
    );
  });

  it('has a fault for each of them', () => {
    const of422 = Object.entries(errorCatalogue).filter(([, { status }]) => status === 422);
    const issuing = of422.map(([code]) => code).filter((code) => code !== 'nfse.cancel_window_closed');
    expect([...new Set<string>(faults.map(({ code }) => code))].sort()).toEqual(issuing.sort());
  });

  it('none of them before an invalid_request', async () => {
    const all = faults.filter(({ kind }) => kind !== 'br');
    const wrong: Fault = { code: 'invalid_request', spoil: sent({ amount_in_cents: 1.5 }) };
    await expectRefusal(await postWith([...all, wrong]), 400, 'invalid_request');
  });
});

describe('POST /v1/nfse: what only test mode refuses', () => {
  it.each(['nfse.nbs_invalid', 'nfse.municipal_registration_missing'])('live mode accepts %s', async (code) => {
    const chosen = faults.filter((fault) => fault.code === code);
    await expectRefusal(await postWith(chosen), 422, code);
    expect((await postWith(chosen, 'live')).status).toBe(202);
  });

  it('live mode refuses all the others', async () => {
    const others = faults.filter(
      ({ code }) => code !== 'nfse.nbs_invalid' && code !== 'nfse.municipal_registration_missing',
    );
    for (const fault of others) {
      const error = await expectRefusal(await postWith([fault], 'live'), 422, fault.code);
      expect(error.livemode).toBe(true);
    }
  });
});
