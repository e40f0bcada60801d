import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type InvoiceEventType, invoicePersonalFields } from '../../../src/domain/invoice/events.js';
import { proofRun } from '../../support/fixture/proof-run.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { openOf } from '../settle.js';
import { judgeOrder, judgeRepeats } from './answers.js';
import type { FaultName } from './finding.js';
import { judge } from './judge.js';
import { judgeOutcomes } from './ledger.js';
import { hashOf } from './log.js';
import type { Exchange, LoggedEvent, Raw, ReceivedCall } from './raw.js';
import { isPromise, judgeRequests } from './requests.js';
import { PERSONAL } from './sealed.js';
import { judgeSends } from './sends.js';
import { type Story, storiesOf } from './story.js';

const home = temporaryFolder();
const clean = proofRun(home);
const stories = storiesOf(clean.events);

/** Documents are judged by a test of their own; the other faults need none. */
const withoutDocuments = { findings: [], by: judgedBy() };

function judgedBy() {
  const none = { passed: 0, of: 0 };
  return { xmllint: none, xmlsec1: none, 'xml-crypto': none };
}

const foundIn = (raw: Raw): readonly FaultName[] => [
  ...new Set(judge(raw, withoutDocuments).findings.map(({ name }) => name)),
];

const only = (raw: Raw) => judge(raw, withoutDocuments).findings;

/** A story of the run with these properties. */
const storyWith = (what: (story: Story) => boolean): Story => {
  const found = stories.find(what);
  if (found === undefined) throw new Error('the kept run has no such invoice: keep another one');
  return found;
};

const has =
  (type: string) =>
  ({ events }: Story): boolean =>
    events.some((event) => event.type === type);

const issued = storyWith(({ status }) => status === 'issued');
const noteOf = ({ accessKey }: Story) => {
  const note = clean.ledger.find(({ access_key }) => access_key === accessKey);
  if (note === undefined) throw new Error('an issued invoice without a note');
  return note;
};

/** The forger's work: every hash behind a changed event is made anew, and the manifest with them. */
const rehashed = (raw: Raw, events: readonly LoggedEvent[]): Raw => {
  const heads = new Map<string, LoggedEvent>();
  const linked = events.map((event) => {
    const before = heads.get(event.stream);
    const { hash: _hash, prevHash: _prevHash, ...meta } = event.meta;
    const prevHash = before?.meta.hash ?? event.meta.prevHash;
    const revision = before === undefined ? event.revision : before.revision + 1;
    const next = { ...event, revision, meta: prevHash === undefined ? meta : { ...meta, prevHash } };
    const done = { ...next, meta: { ...next.meta, hash: hashOf(next) } };
    heads.set(event.stream, done);
    return done;
  });
  const streams = [...heads.values()].map(({ stream, revision, meta }) => ({
    stream,
    revision,
    hash: meta.hash ?? '',
    events: linked.filter((event) => event.stream === stream).length,
  }));
  return { ...raw, events: linked, manifest: { ...raw.manifest, events: linked.length, streams } };
};

const isSendOfNote = ({ method, path }: ReceivedCall): boolean => method === 'POST' && path.endsWith('/nfse');

const soonAfter = (call: ReceivedCall): ReceivedCall => ({
  ...call,
  time: new Date(Date.parse(call.time) + 50).toISOString(),
});

const isRead = ({ method, status, answer }: Exchange, { id }: Story): boolean =>
  method === 'GET' && status === 200 && answer?.id === id;

afterEach(() => vi.unstubAllEnvs());

describe('the judge', () => {
  it('knows the personal fields of the events that it looks at', () => {
    const ofTheService = Object.keys(PERSONAL).map((type) => [type, invoicePersonalFields[type as InvoiceEventType]]);
    expect(PERSONAL).toEqual(Object.fromEntries(ofTheService));
  });

  it('finds nothing in the kept run', () => {
    expect(only(clean)).toEqual([]);
    expect(judge(clean, withoutDocuments).counts.invoices).toBeGreaterThan(30);
  });

  it('finds a second note for one request', () => {
    const note = noteOf(issued);
    const again = { ...note, access_key: note.access_key.replace(/.$/, 'X'), dps_id: `${note.dps_id.slice(0, -3)}999` };
    expect(foundIn({ ...clean, ledger: [...clean.ledger, again] })).toContain('second_note');
  });

  it('finds two notes of one DPS id, also when their amounts differ', () => {
    const note = noteOf(issued);
    const again = { ...note, access_key: note.access_key.replace(/.$/, 'X'), amount_in_cents: 7_777_777 };
    expect(foundIn({ ...clean, ledger: [...clean.ledger, again] })).toContain('second_note');
  });

  it('finds a note of which no client has asked', () => {
    const note = noteOf(issued);
    const ledger = clean.ledger.map((one) => (one === note ? { ...one, amount_in_cents: 7_777_777 } : one));
    expect(foundIn({ ...clean, ledger })).toContain('note_without_request');
  });

  it('finds a double send, as of a service that sends every document twice', () => {
    const calls = clean.calls.flatMap((call) => (isSendOfNote(call) ? [call, soonAfter(call)] : [call]));
    expect(foundIn({ ...clean, calls })).toContain('double_send');
  });

  it('finds every single double send, unless an attempt of the same DPS died before its send', () => {
    const sends = clean.calls.filter(isSendOfNote);
    const attempts = stories.flatMap(({ events }) => events).filter(({ type }) => type === 'IssuanceAttempted');
    const isHidden = ({ dps_id }: ReceivedCall): boolean =>
      attempts.filter(({ data }) => data.dpsId === dps_id).length >
      sends.filter((send) => send.dps_id === dps_id).length;
    const missed = sends.filter((send) => {
      const calls = clean.calls.flatMap((call) => (call === send ? [call, soonAfter(call)] : [call]));
      return judgeSends({ ...clean, calls }, stories).length === 0;
    });
    expect(missed.every(isHidden)).toBe(true);
    expect(missed.length / sends.length).toBeLessThan(0.1);
  });

  it('lets a send that the authorizer could not read take an attempt of its company, and no second one', () => {
    const send = clean.calls.find((call) => isSendOfNote(call) && call.dps_id === noteOf(issued).dps_id);
    const unread = ({ dps_id: _unread, ...call }: ReceivedCall): ReceivedCall => call;
    const calls = clean.calls.map((call) => (call === send ? unread(call) : call));
    expect(judgeSends({ ...clean, calls }, stories)).toEqual([]);
    const twice = clean.calls.flatMap((call) => (isSendOfNote(call) ? [call, unread(call)] : [call]));
    expect(judgeSends({ ...clean, calls: twice }, stories).length).toBeGreaterThan(100);
  });

  it('bears with times of a wrong clock beside a step of it, and with no other', () => {
    const [send] = clean.calls.filter(isSendOfNote);
    const at = send?.time ?? '';
    const early = (seconds: number): Raw => {
      const time = new Date(Date.parse(at) - seconds * 1_000).toISOString();
      return { ...clean, calls: clean.calls.map((call) => (call === send ? { ...call, time } : call)) };
    };
    const step = { kind: 'clock_step', at, until: at, offsetSeconds: 10 };
    expect(judgeSends(early(10), stories).map(({ name }) => name)).toEqual(['send_before_record']);
    expect(judgeSends({ ...early(10), mishaps: [...clean.mishaps, step] }, stories)).toEqual([]);
  });

  it('finds a double send of a cancellation', () => {
    const { accessKey = '' } = storyWith(has('CancellationAttempted'));
    const send = clean.calls.find(({ method, path }) => method === 'POST' && path.includes(accessKey));
    const twice = Array.from({ length: 5 }, () => send as Raw['calls'][number]);
    expect(foundIn({ ...clean, calls: [...clean.calls, ...twice] })).toEqual(['double_send']);
  });

  it('finds a send before its record', () => {
    const { accessKey = '' } = storyWith(has('CancellationConfirmed'));
    const calls = clean.calls.map((call) =>
      call.method === 'POST' && call.path.includes(accessKey)
        ? { ...call, time: new Date(Date.parse(call.time) - 10_000).toISOString() }
        : call,
    );
    expect(foundIn({ ...clean, calls })).toEqual(['send_before_record']);
  });

  it('finds a note that was sent and never recorded', () => {
    const events = clean.events.filter(({ stream }) => stream !== issued.stream);
    expect(foundIn(rehashed(clean, events))).toContain('note_without_attempt');
  });

  it('finds a verdict without look-up', () => {
    const { events } = storyWith((story) =>
      story.events.some(({ type, data }) => type === 'Authorized' && data.evidence === 'lookup'),
    );
    const dpsId = String(events.find(({ type }) => type === 'IssuanceAttempted')?.data.dpsId);
    const calls = clean.calls.filter(({ path }) => !path.endsWith(dpsId));
    expect(foundIn({ ...clean, calls })).toEqual(['verdict_without_look_up']);
  });

  it('finds a proof of absence that rests on one look-up', () => {
    const { events } = storyWith(has('IssuanceProvenAbsent'));
    const proof = events.find(({ type }) => type === 'IssuanceProvenAbsent');
    const second = Date.parse(String(proof?.data.secondAskedAt));
    const calls = clean.calls.filter(
      ({ path, time }) => !path.endsWith(String(proof?.data.dpsId)) || Date.parse(time) < second - 100,
    );
    expect(foundIn({ ...clean, calls })).toContain('verdict_without_look_up');
  });

  it.each([
    ['in the middle of a stream', 1],
    ['at the end of a stream', -1],
  ])('finds a lost event %s', (_where, place) => {
    const gone = issued.events.at(place);
    expect(foundIn({ ...clean, events: clean.events.filter((event) => event !== gone) })).toContain('lost_event');
  });

  it('finds a lost event although the forger made every hash again', () => {
    const events = clean.events.filter(({ stream, type }) => stream !== issued.stream || type !== 'Authorized');
    expect(foundIn(rehashed(clean, events))).toContain('lost_event');
  });

  it('finds a changed event', () => {
    const events = clean.events.map((event) =>
      event.stream === issued.stream && event.type === 'InvoiceAccepted'
        ? { ...event, data: { ...event.data, competence: '2001-01-01' } }
        : event,
    );
    expect(foundIn({ ...clean, events })).toEqual(['lost_event']);
  });

  it('finds an accepted invoice that the log does not have', () => {
    const events = clean.events.filter(({ stream }) => stream !== issued.stream);
    expect(foundIn(rehashed(clean, events))).toContain('lost_invoice');
  });

  it('finds an accepted invoice that is not found any more', () => {
    const http = clean.http.map((exchange) =>
      isRead(exchange, issued) ? { ...exchange, status: 404, answer: { error: { code: 'not_found' } } } : exchange,
    );
    expect(foundIn({ ...clean, http })).toContain('lost_invoice');
  });

  describe('a cancellation that was refused with a code of no catalogue after an attempt that may have arrived', () => {
    const end = clean.calls.at(-1)?.time ?? '';
    const secondsBefore = (seconds: number): string => new Date(Date.parse(end) - seconds * 1_000).toISOString();
    const openSince = (seconds: number, { lookedUp }: { lookedUp: string }): Raw => {
      const event = (type: string, data: object): LoggedEvent => ({
        position: '0',
        stream: issued.stream,
        revision: 9,
        type,
        id: type,
        meta: {},
        at: secondsBefore(seconds),
        data: { request: 1, ...data },
      });
      const lookUp = {
        method: 'GET',
        environment: issued.tenant.mode,
        outcome: 404,
        caller: issued.tenant.cnpj,
        codes: [],
        path: `/SefinNacional/nfse/${issued.accessKey}/eventos/101101/1`,
        time: lookedUp,
      };
      const more = [
        event('CancellationRequested', {}),
        event('CancellationAttempted', { attempt: 1 }),
        event('CancellationProvenAbsent', { attempt: 1 }),
        event('CancellationAttempted', { attempt: 2 }),
        event('CancellationOutcomeUnknown', { attempt: 2, refused: true }),
      ];
      return {
        ...clean,
        events: [...clean.events, ...more],
        calls: [...clean.calls, { ...lookUp }, { ...lookUp, path: '/', time: end }],
      };
    };
    const outcomes = (raw: Raw) => judgeOutcomes(raw, storiesOf(raw.events)).map(({ name }) => name);

    it('is not judged within its hour, and counted', () => {
      const raw = openSince(600, { lookedUp: secondsBefore(5) });
      expect(outcomes(raw)).toEqual([]);
      expect(judge(raw, withoutDocuments).counts.inTheirHour).toBe(1);
      expect(judge(clean, withoutDocuments).counts.inTheirHour).toBe(0);
    });

    it('has been forgotten when its look-ups have ended', () => {
      expect(outcomes(openSince(600, { lookedUp: secondsBefore(40) }))).toEqual(['wrong_outcome']);
    });

    it('is no outcome that a run waits for, unless it has been forgotten', () => {
      const waits = (lookedUp: string): object => {
        const { events, calls } = openSince(600, { lookedUp });
        const { undecided, inTheirHour } = openOf(storiesOf(events), calls);
        return { undecided: undecided.length, inTheirHour: inTheirHour.length };
      };
      expect(waits(secondsBefore(5))).toEqual({ undecided: 0, inTheirHour: 1 });
      expect(waits(secondsBefore(40))).toEqual({ undecided: 1, inTheirHour: 0 });
    });

    it('has an outcome after its hour', () => {
      expect(outcomes(openSince(3_601, { lookedUp: secondsBefore(5) }))).toEqual(['wrong_outcome']);
    });
  });

  it('finds an invoice without an outcome', () => {
    const events = clean.events.filter(({ stream, type }) => stream !== issued.stream || type === 'InvoiceAccepted');
    expect(foundIn(rehashed(clean, events))).toContain('lost_invoice');
  });

  it('finds a reused number', () => {
    const given = clean.events.filter(
      ({ type, stream }) => type === 'DpsNumberAllocated' && stream.startsWith('dpsTest-123'),
    );
    const [first, second] = given;
    const events = clean.events.map((event) =>
      event === second ? { ...event, data: { ...event.data, number: first?.data.number } } : event,
    );
    expect(foundIn(rehashed(clean, events as readonly LoggedEvent[]))).toEqual(['reused_number']);
  });

  it('finds an idempotency key that a restart forgot', () => {
    const repeat = clean.http.findLast(
      ({ method, path, status, idempotencyKey }) =>
        method === 'POST' && path === '/v1/nfse' && status === 202 && idempotencyKey !== undefined,
    );
    const other = stories.find(({ id, tenant }) => id !== repeat?.answer?.id && tenant.mode === 'test');
    const http = clean.http.map((exchange) =>
      exchange === repeat ? { ...exchange, answer: { ...exchange.answer, id: other?.id } } : exchange,
    );
    expect(foundIn({ ...clean, http } as Raw)).toContain('key_forgotten');
  });

  it('finds a reference that two invoices took', () => {
    const taken = clean.http.find(
      ({ path, status, body, idempotencyKey }) =>
        path === '/v1/nfse' && status === 202 && body?.reference !== undefined && idempotencyKey === undefined,
    );
    const other = stories.find(({ id }) => id !== taken?.answer?.id);
    const http = [...clean.http, { ...taken, answer: { ...taken?.answer, id: other?.id } }];
    expect(foundIn({ ...clean, http } as Raw)).toContain('reference_taken_twice');
  });

  describe('a 202 that answers another request', () => {
    const kept = clean.http.filter(isPromise);
    const refusedAs = (code: string): Exchange | undefined =>
      clean.http.find(({ answer, body }) => {
        const { error } = (answer ?? {}) as { error?: { code?: string } };
        return error?.code === code && body !== undefined;
      });
    const inPlaceOf = (exchange: Exchange | undefined, changed: Partial<Exchange>): Raw => ({
      ...clean,
      http: clean.http.map((one) => (one === exchange ? { ...one, ...changed } : one)),
    });

    it.each([
      ['key', 'idempotency_key_reuse', (one: Exchange) => one.idempotencyKey],
      ['reference', 'nfse.reference_in_use', (one: Exchange) => one.body?.reference],
    ] as const)('is found where a %s is accepted with another body', (_what, code, nameOf) => {
      const refused = refusedAs(code);
      const first = kept.find((one) => refused !== undefined && nameOf(one) === nameOf(refused));
      const accepted = (answer: Exchange['answer'] & object) => inPlaceOf(refused, { status: 202, answer });
      expect(foundIn(accepted({ ...first?.answer }))).toContain('other_request_answered');
      const asAsked = accepted({ ...first?.answer, amount_in_cents: refused?.body?.amount_in_cents });
      expect(judgeRepeats(asAsked).map(({ name }) => name)).toEqual(['other_request_answered']);
    });

    it.each([
      ['amount', { amount_in_cents: 1 }],
      ['customer', { customer: { document: '11144477735', name: 'Sigismundo Sigiloso' } }],
      ['reference', { reference: 'another' }],
    ])('is found where the answer has another %s', (_what, field) => {
      const [promise] = kept;
      const raw = inPlaceOf(promise, { answer: { ...promise?.answer, ...field } });
      expect(judgeRequests(raw, stories).map(({ name }) => name)).toEqual(['other_request_answered']);
      expect(foundIn(raw)).toEqual(['answer_changed', 'other_request_answered']);
    });

    it('is found where the log, the note and all later answers agree on another amount', () => {
      const plus = (fields: Readonly<Record<string, unknown>>, field: string) =>
        typeof fields[field] === 'number' ? { ...fields, [field]: fields[field] + 100 } : fields;
      const events = clean.events.map((event) =>
        event.type === 'InvoiceAccepted' ? { ...event, data: plus(event.data, 'amountInCents') } : event,
      );
      expect(judgeRequests(clean, storiesOf(events)).length).toBe(kept.length);
      const http = clean.http.map((one) =>
        one.answer === undefined ? one : { ...one, answer: plus(one.answer, 'amount_in_cents') },
      );
      expect(judgeRequests({ ...clean, http }, storiesOf(events)).length).toBe(kept.length);
    });
  });

  it('finds a run in which nothing was accepted', () => {
    const http = clean.http.map(({ answer: _answer, ...exchange }) => ({ ...exchange, status: 503 }));
    const idle = { ...clean, http, calls: [], ledger: [], replays: [], mishaps: [], rows: { live: {}, rebuilt: {} } };
    expect(foundIn(rehashed(idle, []))).toEqual(['nothing_accepted']);
  });

  it('finds a run in which nothing was issued', () => {
    expect(foundIn({ ...clean, ledger: [] })).toContain('nothing_issued');
  });

  it.each(['amount_in_cents', 'customer', 'created_at', 'issued_at'])(
    'finds two answers that differ in %s',
    (field) => {
      const last = clean.http.findLast((exchange) => isRead(exchange, issued));
      const http = clean.http.map((exchange) =>
        exchange === last ? { ...exchange, answer: { ...exchange.answer, [field]: 'another' } } : exchange,
      );
      expect(foundIn({ ...clean, http })).toEqual(['answer_changed']);
    },
  );

  it.each([
    ['finds', 'live', ['status_backwards']],
    ['allows', 'test', []],
  ] as const)('%s in %s mode a cancellation that failed and is pending again', (_what, mode, found) => {
    const one = storyWith(({ status, tenant }) => status === 'issued' && tenant.mode === mode);
    const last = clean.http.findLast((exchange) => isRead(exchange, one));
    const shown = (seconds: number, status: string) => ({
      ...last,
      began: new Date(Date.parse(last?.ended ?? '') + seconds * 1_000).toISOString(),
      ended: new Date(Date.parse(last?.ended ?? '') + seconds * 1_000 + 10).toISOString(),
      answer: { ...last?.answer, cancellation: { status } },
    });
    const http = [...clean.http, shown(1, 'failed'), shown(2, 'pending')];
    expect(judgeOrder({ ...clean, http } as Raw).map(({ name }) => name)).toEqual(found);
  });

  it('finds a status that goes backwards', () => {
    const last = clean.http.findLast((exchange) => isRead(exchange, issued));
    const before = Date.parse(last?.began ?? '') + 1_000;
    const back = {
      ...last,
      began: new Date(before).toISOString(),
      ended: new Date(before + 5).toISOString(),
      answer: { ...last?.answer, status: 'processing' },
    };
    expect(foundIn({ ...clean, http: [...clean.http, back] } as Raw)).toContain('status_backwards');
  });

  it('finds a cancellation that was reported without its event', () => {
    const { accessKey } = storyWith(({ status }) => status === 'canceled');
    const ledger = clean.ledger.map((note) => {
      const { canceled_at: _canceled, ...valid } = note;
      return note.access_key === accessKey ? valid : note;
    });
    expect(foundIn({ ...clean, ledger })).toEqual(['cancel_without_event']);
  });

  it('finds an invoice that is failed over a note', () => {
    const events = clean.events.map((event) =>
      event.stream === issued.stream && event.type === 'Authorized'
        ? { ...event, type: 'IssuanceRejected', data: { attempt: 1, codes: ['E0312'], at: event.at } }
        : event,
    );
    expect(foundIn(rehashed(clean, events))).toContain('wrong_outcome');
  });

  it('finds an invoice of another tenant that was shown', () => {
    const http = clean.http.map((exchange) =>
      isRead(exchange, issued)
        ? { ...exchange, tenant: issued.tenant.mode === 'live' ? 'a-test' : 'a-live' }
        : exchange,
    );
    expect(foundIn({ ...clean, http })).toEqual(['foreign_invoice_shown']);
  });

  it('finds a drift of a read model', () => {
    const { invoices = [] } = clean.rows.live;
    const live = { ...clean.rows.live, invoices: [...invoices.slice(1), `${invoices[0]} `] };
    expect(foundIn({ ...clean, rows: { ...clean.rows, live } })).toEqual(['projection_drift']);
  });

  it('finds an answer that is not what the log says', () => {
    const last = clean.http.findLast((exchange) => isRead(exchange, issued));
    const http = clean.http.map((exchange) =>
      exchange === last ? { ...exchange, answer: { ...exchange.answer, access_key: '1'.repeat(50) } } : exchange,
    );
    expect(foundIn({ ...clean, http })).toContain('projection_drift');
  });

  it('finds a replay that differs', () => {
    const [first, ...others] = clean.replays;
    const replays = [{ ...first, replayed: { ...(first?.replayed as object), failed_attempts: 7 } }, ...others];
    expect(foundIn({ ...clean, replays } as Raw)).toEqual(['replay_differs']);
  });

  it.each([
    ['in a field that is to be sealed', 'description', 'Outro texto'],
    ['in a field that nobody knows', 'note', 'Serviço sigiloso w1'],
  ])('finds personal data in clear %s', (_where, field, text) => {
    const events = clean.events.map((event) =>
      event.stream === issued.stream && event.type === 'InvoiceAccepted'
        ? { ...event, data: { ...event.data, [field]: text } }
        : event,
    );
    expect(foundIn(rehashed(clean, events))).toEqual(['sealed_field_in_clear']);
  });

  it("finds personal data in the service's log", () => {
    expect(foundIn({ ...clean, serviceLog: `${clean.serviceLog}\n{"msg":"Sigismundo Sigiloso"}` })).toEqual([
      'sealed_field_in_clear',
    ]);
  });

  it('finds an answer 500, and what the run itself noticed', () => {
    const http = clean.http.map((exchange, index) => (index === 0 ? { ...exchange, status: 500 } : exchange));
    expect(foundIn({ ...clean, http, troubles: ['the service ended by itself'] })).toContain('trouble');
  });

  it('finds an altered document, which its signature refuses too', () => {
    const raw = proofRun(home);
    const downloaded = raw.documents.find(({ from }) => from === 'service')?.file ?? '';
    const path = join(raw.folder, downloaded);
    writeFileSync(path, readFileSync(path, 'utf8').replace('<xTribNac>', '<xTribNac>x'));
    const { findings } = judge(raw);
    expect(findings).toContainEqual({ name: 'altered_document', detail: expect.any(String), evidence: downloaded });
    expect(findings).toContainEqual({
      name: 'invalid_document',
      detail: expect.stringContaining('xml-crypto'),
      evidence: downloaded,
    });
  });

  it('says which judgement of the documents is missing, and never counts it as passed', () => {
    vi.stubEnv('PATH', '');
    const { by, findings } = judge(clean);
    expect(by.xmllint).toEqual({ notMade: 'xmllint is not installed' });
    expect(by.xmlsec1).toEqual({ notMade: 'xmlsec1 is not installed' });
    expect(by['xml-crypto']).toEqual({ passed: clean.documents.length, of: clean.documents.length });
    expect(findings).toEqual([]);
  });
});
