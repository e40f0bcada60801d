import { describe, expect, it } from 'vitest';
import { workOnCancellation } from '../../../src/app/issuing/cancellation.js';
import type { CertificateBreaker, CertificateChange } from '../../../src/app/issuing/certificate-breaker.js';
import type { IssuerDeps, Next } from '../../../src/app/issuing/deps.js';
import { concludeIssueIfDue, workOnIssue } from '../../../src/app/issuing/note.js';
import { invoiceStream, type StreamName } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import type { Company } from '../../../src/domain/company/company.js';
import type { Authorizer, LookupResult, SendResult } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ, demoCompany, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { ACCESS_KEY, accepted, at, cancelRequested, DPS_ID, T0 } from '../../support/fixture/invoice.js';
import { appendTo, certificateBreaker, openBreaker } from '../../support/harness/event-store.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';
import { memoryRefusals } from '../../support/memory/certificate-refusals.js';

const page = { kind: 'unknown', reason: 'no_json', codes: [], httpStatus: 403, certificateRefused: true } as const;
const chain = { kind: 'not_sent', reason: 'certificate_refused', codes: ['E1205'], certificateRefused: true } as const;
const forbidden = { certificateRefused: true, mayBeNoActor: true } as const;
const noAnswer = { kind: 'inconclusive', reason: 'no_json_403', ...forbidden } as const;
const REVOKED = 'ERR_SSL_TLSV1_ALERT_CERTIFICATE_REVOKED';
const alert = { kind: 'inconclusive', reason: REVOKED, certificateRefused: true } as const;

type World = {
  harness: IssuingHarness;
  refusals: ReturnType<typeof memoryRefusals>;
  changes: CertificateChange[];
  calls: string[];
  /** What the authorizer's server does with the certificate of these ids. */
  refused: Map<string, SendResult<never>>;
  /** Whether the server answers look-ups under a certificate whose sends it refuses. */
  answersLookUps: { is: boolean };
  /** What the server refuses by a 403 page although it takes the certificate: questions about documents that exist, or all questions. */
  noActor: { of: 'nothing' | 'what exists' | 'all' };
  company: { current: Company };
  /** Another process of the service, which knows only log and database. */
  process(): IssuerDeps;
  accept(nth: number): Promise<StreamName>;
  /** Looks at the streams whenever their time comes, for this many seconds. */
  pass(seconds: number, streams: readonly StreamName[], deps?: IssuerDeps): Promise<void>;
  typesOf(stream: StreamName): Promise<readonly string[]>;
};

const world = async (): Promise<World> => {
  const company = { current: demoCompany(DEMO_CNPJ) };
  const harness = await issuingHarness('live', { company: async () => company.current });
  const { authorizer, clock, store } = harness;
  const refusals = memoryRefusals();
  const changes: CertificateChange[] = [];
  const calls: string[] = [];
  const refused = new Map<string, SendResult<never>>();
  const noActor: World['noActor'] = { of: 'nothing' };
  const answersLookUps = { is: false };
  const current = () => refused.get(company.current.certificate?.certificateId ?? '');
  const asked = async <T extends SendResult<unknown> | LookupResult<unknown>>(
    name: string,
    call: () => Promise<T>,
    no: (answer: SendResult<never>) => unknown,
  ): Promise<T> => {
    calls.push(name);
    const answer = current();
    if (answer !== undefined && (name === 'send' || !answersLookUps.is)) return no(answer) as T;
    const given = await call();
    const isRefused = noActor.of === 'all' || (noActor.of === 'what exists' && given.kind === 'found');
    return name === 'look-up' && isRefused ? (noAnswer as unknown as T) : given;
  };
  const server: Authorizer = {
    ...authorizer,
    sendDps: (...args) =>
      asked(
        'send',
        () => authorizer.sendDps(...args),
        (answer) => answer,
      ),
    sendCancellation: (...args) =>
      asked(
        'send',
        () => authorizer.sendCancellation(...args),
        (answer) => answer,
      ),
    findByDps: (...args) =>
      asked(
        'look-up',
        () => authorizer.findByDps(...args),
        () => noAnswer,
      ),
    findByAccessKey: (...args) =>
      asked(
        'look-up',
        () => authorizer.findByAccessKey(...args),
        () => noAnswer,
      ),
    findCancellation: (...args) =>
      asked(
        'look-up',
        () => authorizer.findCancellation(...args),
        () => noAnswer,
      ),
  };
  const process = (): IssuerDeps => {
    const certificates: CertificateBreaker = certificateBreaker(clock, {
      refusals,
      company: async () => company.current,
      onChange: (change) => changes.push(change),
    });
    return { ...harness.deps, certificates, authorizer: certificates.watch(server), breaker: openBreaker(clock) };
  };
  const own = process();
  return {
    harness,
    refusals,
    changes,
    calls,
    refused,
    noActor,
    answersLookUps,
    company,
    process,
    accept: async (nth) => {
      const invoiceId = `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
      const event = accepted({ mode: 'live', invoiceId, acceptedAt: clock.now() });
      const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
      await appendTo(store, stream, [event], clock.now());
      return stream;
    },
    pass: async (seconds, streams, deps = own) => {
      const end = addSeconds(clock.now(), seconds);
      const due = new Map(streams.map((stream) => [stream, clock.now()]));
      for (;;) {
        const [next] = [...due].sort(([, one], [, other]) => (one < other ? -1 : 1));
        if (next === undefined || next[1] > end) break;
        const [stream, instant] = next;
        clock.moveTo(instant);
        const step: Next = await workOnIssue(stream, deps);
        await concludeIssueIfDue(stream, deps);
        if (step.kind === 'later') due.set(stream, step.at > clock.now() ? step.at : addSeconds(clock.now(), 0.01));
        else due.delete(stream);
      }
      clock.moveTo(end);
    },
    typesOf: async (stream) => (await store.load(stream)).events.map(({ type }) => type),
  };
};

const renewed = (company: Company): Company => ({
  ...company,
  certificate: { ...(company.certificate as NonNullable<Company['certificate']>), certificateId: 'renewed' },
});

describe('given a certificate that the web server refuses by a page', () => {
  it('when many invoices wait, then one attempt meets it, and the others end queued and safe to repeat', async () => {
    const { harness, refused, calls, accept, pass, typesOf, changes } = await world();
    refused.set('certificate', page);
    const streams = [harness.stream, ...(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(accept)))];
    await pass(1_000, streams);
    expect(calls.filter((call) => call === 'send')).toHaveLength(1);
    const types = await Promise.all(streams.map(typesOf));
    expect(types[0]).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceOutcomeUnknown']);
    for (const others of types.slice(1)) expect(others).toEqual(['InvoiceAccepted', 'NotProcessed']);
    expect(changes).toEqual([{ mode: 'live', companyId: DEMO_CNPJ, refused: true, reason: 'no_json 403' }]);
  });

  it('when a new certificate is stored, then the waiting invoices are sent within seconds and the look-up settles the held one', async () => {
    const { harness, refused, company, accept, pass, typesOf, refusals } = await world();
    harness.authorizer.script = ['lost_request'];
    refused.set('certificate', page);
    const other = await accept(1);
    await pass(120, [harness.stream, other]);
    expect(await typesOf(other)).toEqual(['InvoiceAccepted']);
    company.current = renewed(company.current);
    harness.authorizer.script = [];
    await pass(16, [other]);
    expect(await typesOf(other)).toContain('Authorized');
    await pass(1_500, [harness.stream]);
    // The page came from a server before the application: the absence is proven, and the same document is sent again.
    expect(await harness.types()).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'IssuanceProvenAbsent',
      'IssuanceAttempted',
      'Authorized',
    ]);
    expect(await refusals.all()).toEqual([]);
  });

  it('when the server takes the certificate again, then a look-up finds that out and no send is lost', async () => {
    const { harness, refused, calls, accept, pass, typesOf, changes } = await world();
    refused.set('certificate', page);
    await pass(60, [harness.stream]);
    refused.clear();
    const other = await accept(1);
    await pass(60, [other]);
    expect(await typesOf(other)).toContain('Authorized');
    expect(changes.map(({ refused: is }) => is)).toEqual([true, false]);
    expect(calls.filter((call) => call === 'send')).toHaveLength(2);
  });

  it('when another process takes over, or the process starts again, then it sends nothing under the certificate', async () => {
    const { harness, refused, calls, accept, pass, process, typesOf } = await world();
    refused.set('certificate', page);
    await pass(20, [harness.stream]);
    const streams = await Promise.all([1, 2, 3].map(accept));
    for (const stream of streams) await pass(30, [stream], process());
    expect(calls.filter((call) => call === 'send')).toHaveLength(1);
    for (const stream of streams) expect(await typesOf(stream)).toEqual(['InvoiceAccepted']);
  });

  it('when a process dies before it notes the refusal, then one more send meets it and holds the others', async () => {
    const { harness, refused, refusals, accept, process, pass, typesOf, calls } = await world();
    refused.set('certificate', page);
    harness.authorizer.script = ['lost_request'];
    await harness.issue();
    await pass(40, [harness.stream], process());
    const others = await Promise.all([1, 2, 3].map(accept));
    await pass(30, others, process());
    expect(await refusals.all()).toMatchObject([{ certificateId: 'certificate', reason: 'no_json 403' }]);
    expect(calls.filter((call) => call === 'send')).toHaveLength(1);
    const types = await Promise.all(others.map(typesOf));
    expect(types.slice(1)).toEqual([['InvoiceAccepted'], ['InvoiceAccepted']]);
  });

  it('when a look-up meets a TLS alert about it, then no send begins', async () => {
    const { harness, process, refusals } = await world();
    const deps = process();
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const watched = deps.certificates.watch({ ...harness.authorizer, findByDps: async () => alert });
    await watched.findByDps(caller, DPS_ID);
    expect(await refusals.all()).toMatchObject([{ reason: REVOKED }]);
    expect((await deps.certificates.requestPermit(caller, async () => undefined, 'send')).kind).toBe('paused');
  });

  it('when the clock is set back by a day, then the next look-up is due at once and claimed once', async () => {
    const { harness, refused, refusals, pass, process } = await world();
    refused.set('certificate', page);
    await pass(20, [harness.stream]);
    harness.clock.pass(-86_400);
    const probeAt = (await refusals.all())[0]?.probeAt ?? '';
    let probes = 0;
    const probe = async (): Promise<void> => {
      probes += 1;
    };
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const processes = [process(), process()];
    await Promise.all(processes.map(({ certificates }) => certificates.requestPermit(caller, probe, 'send')));
    expect([probeAt > harness.clock.now(), probes]).toEqual([true, 1]);
    expect((await refusals.all())[0]?.probeAt).toBe(addSeconds(harness.clock.now(), 15));
  });

  it('holds neither another company nor the other environment', async () => {
    const { harness, refused, pass, process } = await world();
    refused.set('certificate', page);
    await pass(20, [harness.stream]);
    const { certificates } = process();
    const permitOf = async (mode: 'live' | 'test', companyId: string) =>
      (await certificates.requestPermit({ mode, companyId }, async () => undefined, 'send')).kind;
    expect(await permitOf('live', DEMO_CNPJ)).toBe('paused');
    expect(await permitOf('live', OTHER_CNPJ)).toBe('permit');
    expect(await permitOf('test', DEMO_CNPJ)).toBe('permit');
  });

  it('holds a cancellation too, and makes a look-up as its probe', async () => {
    const { harness, refused, calls, accept, pass, process } = await world();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(0));
    refused.set('certificate', page);
    await pass(1, [await accept(1)]);
    harness.clock.pass(31);
    const step = await workOnCancellation(harness.stream, process());
    expect(step.kind).toBe('later');
    expect(calls).toEqual(['send', 'look-up']);
    expect(await harness.types()).not.toContain('CancellationAttempted');
  });
});

describe('given a server that refuses sends by a page and answers look-ups', () => {
  it('when many invoices wait, then two meet it, their resends are the probes, and the pauses double', async () => {
    const { harness, refused, answersLookUps, accept, pass, typesOf } = await world();
    refused.set('certificate', page);
    answersLookUps.is = true;
    const streams = [harness.stream, ...(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(accept)))];
    await pass(890, streams);
    const types = await Promise.all(streams.map(typesOf));
    expect(types.filter((of) => of.includes('IssuanceAttempted'))).toHaveLength(2);
    const events = (await Promise.all(streams.map((stream) => harness.store.load(stream)))).flatMap((of) => of.events);
    const sends = events.flatMap((event) =>
      event.type === 'IssuanceAttempted'
        ? [Math.floor((Date.parse(event.data.attemptedAt) - Date.parse(T0)) / 1_000)]
        : [],
    );
    expect(sends.sort((one, other) => one - other)).toEqual([0, 30, 210, 420, 720]);
  });

  it('when it takes sends again, then a resend finds that out, and all others follow', async () => {
    const { harness, refused, answersLookUps, accept, pass, typesOf, changes } = await world();
    refused.set('certificate', page);
    answersLookUps.is = true;
    const streams = [harness.stream, ...(await Promise.all([1, 2, 3, 4, 5].map(accept)))];
    await pass(100, streams);
    expect(changes).toHaveLength(1);
    refused.clear();
    await pass(110, streams);
    expect(changes).toHaveLength(1);
    await pass(20, streams);
    expect(changes.slice(1)).toEqual([{ mode: 'live', companyId: DEMO_CNPJ, refused: false }]);
    await pass(30, streams);
    for (const stream of streams) expect((await typesOf(stream)).at(-1)).toBe('Authorized');
  });

  it('when only new invoices wait, then each of their probes sends one of them, at last five minutes later than a resend', async () => {
    const { harness, refused, answersLookUps, accept, pass, calls } = await world();
    refused.set('certificate', page);
    answersLookUps.is = true;
    await pass(1, [harness.stream]);
    const sends = () => calls.filter((call) => call === 'send').length;
    await pass(28, await Promise.all([1, 2].map(accept)));
    expect(sends()).toBe(1);
    await pass(2, await Promise.all([3, 4].map(accept)));
    expect(sends()).toBe(2);
    await pass(325, await Promise.all([5, 6].map(accept)));
    expect(sends()).toBe(2);
    await pass(10, await Promise.all([7, 8].map(accept)));
    expect(sends()).toBe(3);
  });
});

describe('given a certificate whose sends are taken and whose company is no actor of its notes, such as that of a head office', () => {
  it('when an answer is lost and its look-ups get 403, then the later invoices are issued and the lost one ends interrupted', async () => {
    const { harness, noActor, accept, pass, typesOf, changes } = await world();
    await pass(60, [harness.stream]);
    noActor.of = 'all';
    harness.authorizer.script = ['lost_answer'];
    const lost = await accept(1);
    await pass(100, [lost]);
    const later = await Promise.all([2, 3, 4].map(accept));
    await pass(4_200, [lost, ...later]);
    for (const stream of later) expect((await typesOf(stream)).at(-1)).toBe('Authorized');
    expect(await typesOf(lost)).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'IssuanceInterrupted',
    ]);
    expect([changes, harness.authorizer.notes.length]).toEqual([[], 5]);
  });

  it('when another process or a new start sees only the 403 of the look-up, then it sends too', async () => {
    const { harness, noActor, accept, pass, process, typesOf, refusals } = await world();
    noActor.of = 'all';
    harness.authorizer.script = ['lost_answer'];
    await pass(100, [harness.stream], process());
    const other = await accept(1);
    await pass(5, [other], process());
    expect((await typesOf(other)).at(-1)).toBe('Authorized');
    expect(await refusals.all()).toEqual([]);
  });

  it('when a send was refused for a while, then the probe asks for a DPS that has no actors, and sending continues', async () => {
    const { harness, refused, noActor, accept, pass, typesOf, changes } = await world();
    await pass(60, [harness.stream]);
    noActor.of = 'what exists';
    refused.set('certificate', page);
    await pass(1, [await accept(1)]);
    refused.clear();
    const other = await accept(2);
    await pass(60, [other]);
    expect((await typesOf(other)).at(-1)).toBe('Authorized');
    expect(changes.map(({ refused: is }) => is)).toEqual([true, false]);
  });

  it('when such a send was that of a cancellation, then its probe frees the company too', async () => {
    const { harness, refused, noActor, accept, pass, process } = await world();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(0));
    noActor.of = 'what exists';
    refused.set('certificate', page);
    const deps = process();
    await pass(1, [await accept(1)], deps);
    refused.clear();
    harness.clock.pass(31);
    await workOnCancellation(harness.stream, deps);
    await workOnCancellation(harness.stream, deps);
    expect(await harness.types()).toContain('CancellationAttempted');
  });
});

describe('given a certificate that the authorizer refuses in JSON (E1205)', () => {
  it('when 40 invoices wait for 90 s, then one attempt is recorded and look-ups grow rare', async () => {
    const { harness, refused, calls, accept, pass, typesOf } = await world();
    refused.set('certificate', chain);
    const numbers = Array.from({ length: 39 }, (_, index) => index + 1);
    const streams = [harness.stream, ...(await Promise.all(numbers.map(accept)))];
    await pass(90, streams);
    const events = (await Promise.all(streams.map(typesOf))).flat().filter((type) => type !== 'InvoiceAccepted');
    expect(events).toEqual(['IssuanceAttempted', 'IssuanceNotSent']);
    expect(calls.filter((call) => call === 'look-up').length).toBeLessThan(6);
    refused.clear();
    await pass(120, streams);
    for (const stream of streams) expect(await typesOf(stream)).toContain('Authorized');
  });

  it('when nobody stores another one, then the attempt fails after its hour, safe to repeat', async () => {
    const { harness, refused, pass } = await world();
    refused.set('certificate', chain);
    await pass(3_700, [harness.stream]);
    expect((await harness.types()).at(-1)).toBe('IssuanceFailed');
    expect(await harness.invoice()).toMatchObject({ outcome: { failedAt: at(3_600) } });
  });
});

describe('the first send of a certificate', () => {
  it('goes ahead of the others until it is answered, two seconds at most', async () => {
    const { harness, process } = await world();
    const { certificates } = process();
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const ask = () => certificates.requestPermit(caller, async () => undefined, 'send');
    const first = await ask();
    expect(await ask()).toEqual({ kind: 'paused', until: addSeconds(T0, 0.2) });
    if (first.kind === 'permit') first.release();
    expect((await ask()).kind).toBe('permit');
    expect((await ask()).kind).toBe('paused');
    harness.clock.pass(2);
    expect((await ask()).kind).toBe('permit');
  });

  it('is not waited for once a send was answered', async () => {
    const { harness, process } = await world();
    const deps = process();
    await deps.authorizer.sendDps({ mode: 'live', companyId: DEMO_CNPJ }, Buffer.from('<x Id="1"/>'), T0);
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const ask = () => deps.certificates.requestPermit(caller, async () => undefined, 'send');
    expect([(await ask()).kind, (await ask()).kind]).toEqual(['permit', 'permit']);
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('is waited for again when the certificate was refused and is taken again', async () => {
    const { harness, refused, process } = await world();
    const deps = process();
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const ask = () => deps.certificates.requestPermit(caller, async () => undefined, 'send');
    const send = () => deps.authorizer.sendDps(caller, Buffer.from('<x Id="1"/>'), T0);
    await send();
    refused.set(demoCompany(DEMO_CNPJ).certificate?.certificateId ?? '', chain);
    await send();
    expect((await ask()).kind).toBe('paused');
    refused.clear();
    await deps.authorizer.findByDps(caller, DPS_ID);
    harness.clock.pass(1);
    // then: one send finds out whether sends are taken, too
    expect([(await ask()).kind, (await ask()).kind]).toEqual(['permit', 'paused']);
  });
});

describe('a look-up of a note that a municipality made', () => {
  it('does not tell that the authorizer takes a certificate, because the ADN answers it', async () => {
    const { harness, refused, pass, process, changes } = await world();
    refused.set('certificate', chain);
    await pass(60, [harness.stream]);
    expect(changes).toHaveLength(1);
    refused.clear();
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const { authorizer } = process();
    const answer = await authorizer.findCancellation(caller, `${ACCESS_KEY.slice(0, 7)}1${ACCESS_KEY.slice(8)}`);
    const afterAdn = changes.length;
    await authorizer.findCancellation(caller, ACCESS_KEY);
    expect([answer.kind, afterAdn]).toEqual(['absent', 1]);
    expect(changes.slice(1)).toEqual([{ mode: 'live', companyId: DEMO_CNPJ, refused: false }]);
  });
});

describe('given documents of another company, about which the authorizer answers 403 by a page', () => {
  const other = { mode: 'live', companyId: OTHER_CNPJ } as const;
  const watchedOf = async () => {
    const { harness } = await world();
    const refusals = memoryRefusals();
    const certificates = certificateBreaker(harness.clock, { refusals, company: async (id) => demoCompany(id) });
    const authorizer = certificates.watch({
      ...harness.authorizer,
      findByDps: async () => noAnswer,
      findByAccessKey: async () => noAnswer,
      findCancellation: async () => noAnswer,
    });
    return { harness, clock: harness.clock, refusals, certificates, authorizer, breaker: openBreaker(harness.clock) };
  };

  it('when the probe of an outage asks about a send of that company, then the sender is not held', async () => {
    const { clock, refusals, certificates, authorizer, breaker } = await watchedOf();
    const outage = { kind: 'unknown', reason: 'no_json', codes: [], outage: true } as const;
    for (const companyId of [OTHER_CNPJ, DEMO_CNPJ, DEMO_CNPJ, DEMO_CNPJ, DEMO_CNPJ]) {
      const permit = await breaker.requestPermit({ ...other, companyId }, 'notes');
      if (permit.kind === 'permit') permit.report(outage, (caller) => authorizer.findByDps(caller, DPS_ID));
    }
    clock.pass(16);
    const probing = await breaker.requestPermit(other, 'notes');
    const sending = await breaker.requestPermit(other, 'notes');
    expect([probing.kind, sending.kind]).toEqual(['paused', 'permit']);
    expect(await refusals.all()).toEqual([]);
    expect((await certificates.requestPermit(other, async () => undefined, 'send')).kind).toBe('permit');
  });

  it('when the reconciliation asks about notes, then a 403 counts neither about a note of that company nor about an own note', async () => {
    const { refusals, authorizer } = await watchedOf();
    await authorizer.findByAccessKey(other, ACCESS_KEY);
    await authorizer.findCancellation(other, ACCESS_KEY);
    await authorizer.findCancellation({ ...other, companyId: DEMO_CNPJ }, ACCESS_KEY);
    expect(await refusals.all()).toEqual([]);
  });

  it('when the question meets a TLS alert, then the asking company is held, and not the other', async () => {
    const { clock, refusals, certificates, harness } = await watchedOf();
    const authorizer = certificates.watch({ ...harness.authorizer, findByDps: async () => alert });
    await authorizer.findByDps(other, DPS_ID);
    expect(await refusals.all()).toMatchObject([{ companyId: OTHER_CNPJ, reason: REVOKED }]);
    clock.pass(1);
    const kindOf = async (companyId: string) =>
      (await certificates.requestPermit({ ...other, companyId }, async () => undefined, 'send')).kind;
    expect([await kindOf(OTHER_CNPJ), await kindOf(DEMO_CNPJ)]).toEqual(['paused', 'permit']);
  });
});

describe('a database that is out', () => {
  it('holds no send and changes no answer', async () => {
    const faults: unknown[] = [];
    const { harness } = await world();
    const broken = async (): Promise<never> => {
      throw new Error('the database is out');
    };
    const certificates = certificateBreaker(harness.clock, {
      refusals: { all: broken, save: broken, remove: broken, claimProbe: broken },
      onFault: (error) => faults.push(error),
    });
    const authorizer = certificates.watch({ ...harness.authorizer, sendDps: async () => page });
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    expect(await authorizer.sendDps(caller, Buffer.alloc(0), T0)).toEqual(page);
    expect((await certificates.requestPermit(caller, async () => undefined, 'send')).kind).toBe('paused');
    expect(faults.length).toBeGreaterThan(0);
  });
});
