import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../src/adapters/authorizer/reading.js';
import { concludeCancellationIfDue, workOnCancellation } from '../../../src/app/issuing/cancellation.js';
import type { Mode } from '../../../src/domain/common/ids.js';
import { addSeconds, isBefore } from '../../../src/domain/common/time.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import { SchemaViolation } from '../../../src/ports/documents.js';
import { at, cancelAbsent, cancelAttempted, cancelUnknown } from '../../support/fixture/invoice.js';
import { eventFor, ProcessDied, type Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

const requested = async (script: Turn[], mode: Mode = 'live'): Promise<IssuingHarness> => {
  const harness = await issuingHarness(mode);
  await harness.issueToTheEnd();
  await request(harness, 1);
  harness.authorizer.script = script;
  harness.authorizer.calls = [];
  harness.authorizer.sends = [];
  return harness;
};

const request = (harness: IssuingHarness, number: number): Promise<void> =>
  harness.record({
    type: 'CancellationRequested',
    data: {
      request: number,
      reason: 'other',
      description: 'Cancelamento pedido pelo cliente.',
      requestedAt: harness.clock.now(),
    },
  });

const OTHER_ALGORITHM = { digest: '', contradiction: { claimed: 'x', computed: 'y' } };

const OTHER_KEY = '33045572212345678000195000000000014826082012345670';

const cancellation = async (harness: IssuingHarness) => (await harness.invoice()).cancellation;

describe('canceling', () => {
  it('sends the request once and records the event', async () => {
    const harness = await requested([]);
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.events).toHaveLength(1);
  });

  it('fails at once when its request does not fit the schema, and parks its work', async () => {
    const harness = await requested([]);
    harness.deps.signer = {
      ...harness.deps.signer,
      signPedRegEvento: async () => {
        throw new SchemaViolation("Element '{http://www.sped.fazenda.gov.br/nfse}xMotivo': [facet 'minLength']");
      },
    };
    expect(await harness.cancel()).toEqual({
      kind: 'park',
      reason: "the document does not fit the official schema: Element 'xMotivo': [facet 'minLength']",
    });
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { request: 1, reason: 'document_invalid', codes: [] },
    });
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.sends).toEqual([]);
    expect(await harness.cancel()).toEqual({ kind: 'done' });
  });

  it('finds the event whose answer was lost', async () => {
    const harness = await requested(['lost_answer']);
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationConfirmed',
      data: { evidence: 'lookup' },
    });
    expect(await harness.types()).toContain('CancellationOutcomeUnknown');
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.events).toHaveLength(1);
  });

  it('sends the same bytes again once the absence is proven', async () => {
    const harness = await requested(['lost_request']);
    await harness.cancelToTheEnd();
    expect(await harness.types()).toContain('CancellationProvenAbsent');
    expect(harness.authorizer.sends).toHaveLength(2);
    expect(harness.authorizer.sends[1]).toEqual(harness.authorizer.sends[0]);
    expect(harness.authorizer.events).toHaveLength(1);
    expect(await harness.status()).toBe('canceled');
  });

  it('retries after a pause when no byte left', async () => {
    const harness = await requested(['not_sent', 'not_sent']);
    const next = await harness.cancel();
    expect(next.kind).toBe('later');
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('confirms when E0840 turns out to be our own event', async () => {
    const harness = await requested(['late', 'answer']);
    await harness.cancelToTheEnd();
    const unknown = (await harness.events()).filter(({ type }) => type === 'CancellationOutcomeUnknown');
    expect(unknown.at(-1)?.data).toMatchObject({ attempt: 2, codes: ['E0840'] });
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.events).toHaveLength(1);
  });

  it('is refused when E0840 is another event that blocks the note', async () => {
    const harness = await requested([{ unknown: ['E0840'] }]);
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'refused', codes: ['E0840'] },
    });
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.calls).toEqual(['sendCancellation', 'findCancellation']);
    expect(harness.authorizer.events).toHaveLength(0);
  });

  it('ends by its time-out when E0840 names a cancellation that no look-up shows, and is not sent again', async () => {
    const harness = await requested([{ unknown: ['E0840'], namedEvent: '101101' }]);
    const start = harness.clock.now();
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'timeout', codes: [] },
    });
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(isBefore(harness.clock.now(), addSeconds(start, 3_600))).toBe(false);
  });

  it.each(['101101', '105102', '105104', '305101'] as const)(
    'succeeds when E0840 names the %s of another party that look-ups show later',
    async (eventType) => {
      const harness = await requested([{ unknown: ['E0840'], namedEvent: eventType }]);
      const { accessKey } = harness.authorizer.notes[0] ?? { accessKey: '' };
      const registeredAt = harness.clock.now();
      const shownAt = addSeconds(registeredAt, 600);
      for (;;) {
        const next = await harness.cancel();
        if (next.kind !== 'later') break;
        harness.clock.moveTo(next.at);
        if (isBefore(next.at, shownAt) || harness.authorizer.events.length > 0) continue;
        const requestId = `PRE${accessKey}${eventType}`;
        const xml = Buffer.from('<evento/>');
        harness.authorizer.events.push({ xml, eventType, registeredAt, requestId, ...OTHER_ALGORITHM });
      }
      expect((await harness.events()).at(-1)).toMatchObject({ type: 'NoteCanceledElsewhere', data: { eventType } });
      expect(await cancellation(harness)).toMatchObject({ status: 'succeeded' });
      expect(await harness.status()).toBe('canceled');
    },
  );

  it.each(['E1831', 'E1983'])('outlives %s, which passes by itself after a quarter of an hour', async (code) => {
    const harness = await requested([]);
    const passesAt = addSeconds(harness.clock.now(), 900);
    for (;;) {
      harness.authorizer.script = isBefore(harness.clock.now(), passesAt) ? [{ unknown: [code] }] : [];
      const next = await harness.cancel();
      if (next.kind !== 'later') break;
      harness.clock.moveTo(next.at);
    }
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.sends).toHaveLength(4);
  });

  it('ends with its reason within minutes when the refusal follows a lost request, and is not sent a third time', async () => {
    const harness = await requested(['lost_request', { rejected: ['E0822'] }]);
    const start = harness.clock.now();
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'refused', codes: ['E0822'] },
    });
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.sends).toHaveLength(2);
    expect(isBefore(harness.clock.now(), addSeconds(start, 900))).toBe(true);
  });

  it('is confirmed when the request that seemed lost arrives before the refusal is final', async () => {
    const harness = await requested(['lost_request', { rejected: ['E0822'] }]);
    while (harness.authorizer.sends.length < 2) {
      const next = await harness.cancel();
      if (next.kind === 'later') harness.clock.moveTo(next.at);
    }
    const [first] = harness.authorizer.sends;
    if (first === undefined) throw new Error('nothing was sent');
    harness.authorizer.events.push(eventFor(first));
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
  });

  it.each([
    ['its emitter by other software', '101101', { digest: 'of somebody else' }, {}],
    ['other software that signs by another algorithm', '101101', OTHER_ALGORITHM, {}],
    ['the pages of the national system', '101101', { digest: '', contradiction: { claimed: '', computed: 'y' } }, {}],
    [
      'a substitution',
      '105102',
      { digest: '', contradiction: { claimed: '', computed: 'y' } },
      { replacedBy: OTHER_KEY },
    ],
    ['the municipality after an analysis', '105104', OTHER_ALGORITHM, {}],
    ['the municipality ex officio', '305101', { digest: 'of the municipality' }, {}],
  ] as const)('succeeds when the note was canceled elsewhere, by %s', async (_who, eventType, signed, named) => {
    const harness = await requested([{ unknown: ['E0840'] }]);
    const { accessKey } = harness.authorizer.notes[0] ?? { accessKey: '' };
    const registeredAt = harness.clock.now();
    harness.authorizer.events.push({
      xml: Buffer.from('<evento/>'),
      eventType,
      ...named,
      registeredAt,
      requestId: `PRE${accessKey}${eventType}`,
      ...signed,
    });
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(await cancellation(harness)).toMatchObject({ status: 'succeeded', canceledAt: registeredAt });
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'NoteCanceledElsewhere',
      data: { accessKey, eventType, canceledAt: registeredAt, ...named },
    });
    expect(await harness.types()).not.toContain('CancellationConfirmed');
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.notices).toEqual([]);
  });

  it.each([
    ['document_altered', { digest: '', contradiction: { claimed: 'x', computed: '' } }],
    ['signature_unverified', { digest: 'of somebody else', signatureFault: 'missing' }],
  ])('tells of an event under its id that nobody vouches for: %s', async (notice, doubt) => {
    const harness = await requested([]);
    const { accessKey } = harness.authorizer.notes[0] ?? { accessKey: '' };
    harness.authorizer.events.push({
      xml: Buffer.from('<evento/>'),
      eventType: '101101',
      registeredAt: harness.clock.now(),
      requestId: `PRE${accessKey}101101`,
      ...doubt,
    });
    await harness.cancelToTheEnd();
    expect(await cancellation(harness)).toMatchObject({ status: 'failed' });
    expect(harness.notices.map((entry) => entry.kind)).toContain(notice);
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it.each([
    ['without a signature', ''],
    ['under another claim', 'x'],
  ])('neither succeeds nor is confirmed by an event with its own content %s', async (_how, claimed) => {
    const harness = await requested(['lost_answer']);
    await harness.cancel();
    const [event] = harness.authorizer.events;
    if (event === undefined) throw new Error('no event was registered');
    const doubt = { digest: '', contradiction: { claimed, computed: event.digest } };
    harness.authorizer.events = [{ ...event, ...doubt }];
    await harness.cancelToTheEnd();
    expect(await cancellation(harness)).toMatchObject({ status: 'failed' });
    expect(await harness.status()).toBe('issued');
    const types = await harness.types();
    expect(types).not.toContain('NoteCanceledElsewhere');
    expect(types).not.toContain('CancellationConfirmed');
  });

  it('is refused at once by a final refusal of the first send', async () => {
    const harness = await requested([{ rejected: ['E0822'] }]);
    const start = harness.clock.now();
    await harness.cancelToTheEnd();
    expect(await cancellation(harness)).toMatchObject({ status: 'failed', codes: ['E0822'] });
    expect(harness.clock.now()).toBe(start);
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('looks up after a refusal that follows an unknown send', async () => {
    const harness = await requested(['late', { rejected: ['E0822'] }]);
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.events).toHaveLength(1);
  });

  it('does not look up the send of a dead process before its deadline', async () => {
    const harness = await requested(['die_after_arrival']);
    const start = harness.clock.now();
    await expect(harness.cancel()).rejects.toBeInstanceOf(ProcessDied);
    const calls = harness.authorizer.calls.length;
    expect(await harness.cancel()).toEqual({ kind: 'later', at: addSeconds(start, 35) });
    expect(harness.authorizer.calls).toHaveLength(calls);
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('lets one of two workers send', async () => {
    const harness = await requested([]);
    await Promise.all([harness.cancel(), harness.cancel()]);
    await harness.cancelToTheEnd();
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(await harness.status()).toBe('canceled');
  });

  it('does not end on a look-up that is older than the send whose time is up', async () => {
    const harness = await requested([]);
    await harness.record(cancelAttempted(1, 0), cancelUnknown(1, 30), cancelAbsent(1, 600));
    harness.clock.moveTo(at(3700));
    const findCancellation: Authorizer['findCancellation'] = async () => {
      await harness.record(cancelAttempted(2, 3700));
      harness.clock.moveTo(at(3700 + 3600));
      return { kind: 'absent' };
    };
    const authorizer = { ...harness.authorizer, findCancellation };
    await concludeCancellationIfDue(harness.stream, { ...harness.deps, authorizer });
    expect((await cancellation(harness))?.status).toBe('pending');
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect((await cancellation(harness))?.status).toBe('failed');
  });

  it('ends by its time-out when nothing is proven, after a last look-up', async () => {
    const harness = await requested(['lost_request']);
    harness.authorizer.mute = true;
    await harness.cancel();
    harness.clock.pass(3600);
    const calls = harness.authorizer.calls.length;
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect(harness.authorizer.calls.slice(calls)).toEqual(['findCancellation']);
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'timeout' },
    });
    expect(await harness.status()).toBe('issued');
  });

  it('ends by its time-out over a registered event when the event paths are answered by the framework’s 404', async () => {
    const harness = await requested(['lost_answer']);
    const exchange = {
      kind: 'answered' as const,
      status: 404,
      contentType: 'application/json',
      body: Buffer.from('{"Message":"No HTTP resource was found that matches the request URI."}'),
    };
    harness.deps.authorizer = {
      ...harness.authorizer,
      findCancellation: async () =>
        readAnswer({ name: 'event', exchange, expected: { accessKey: OTHER_KEY, eventType: '101101' } }),
    };
    await harness.cancelToTheEnd();
    expect(harness.authorizer.sends).toHaveLength(1);
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'timeout' },
    });
    expect(harness.notices).toContainEqual(
      expect.objectContaining({ kind: 'lookup_inconclusive', detail: 'status_404' }),
    );
  });

  it('may be asked for again in test after a time-out, with the same request id', async () => {
    const harness = await requested(['lost_request'], 'test');
    harness.authorizer.mute = true;
    await harness.cancel();
    harness.clock.pass(3600);
    await harness.cancelToTheEnd();
    expect(await cancellation(harness)).toMatchObject({ status: 'failed' });
    harness.authorizer.mute = false;
    await request(harness, 2);
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(harness.authorizer.sends).toHaveLength(2);
    expect(harness.authorizer.events).toHaveLength(1);
    const ids = (await harness.events()).flatMap((event) =>
      event.type === 'CancellationAttempted' ? [event.data.requestId] : [],
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('is confirmed in test by the late event of an earlier request of ours', async () => {
    const harness = await requested(['lost_answer'], 'test');
    harness.authorizer.mute = true;
    await harness.cancel();
    harness.clock.pass(3600);
    await harness.cancelToTheEnd();
    expect(await cancellation(harness)).toMatchObject({ request: 1, status: 'failed' });
    harness.authorizer.mute = false;
    await request(harness, 2);
    await harness.cancelToTheEnd();
    expect(await cancellation(harness)).toMatchObject({ request: 2, status: 'succeeded' });
    expect(harness.authorizer.events).toHaveLength(1);
  });

  it('ends as refused, not by the time-out, when another event blocks a note that an earlier send may have reached', async () => {
    const harness = await requested([{ unknown: [] }, { unknown: ['E0840'] }]);
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'refused', codes: ['E0840'] },
    });
  });
});

describe('given a look-up of a test cancellation that ends while it is under way, and another one that is sent', () => {
  it('then the event that shows is left to the look-ups of the other one, which confirm it', async () => {
    const harness = await requested(['lost_request', 'lost_answer'], 'test');
    await harness.cancel();
    harness.clock.pass(3_590);
    const { authorizer } = harness.deps;
    let first = true;
    const deps = {
      ...harness.deps,
      authorizer: {
        ...authorizer,
        findCancellation: async (...args: Parameters<Authorizer['findCancellation']>) => {
          if (first) {
            first = false;
            harness.clock.pass(20);
            await concludeCancellationIfDue(harness.stream, harness.deps);
            await request(harness, 2);
            await harness.cancel();
          }
          return await authorizer.findCancellation(...args);
        },
      },
    };
    expect(await workOnCancellation(harness.stream, deps)).toMatchObject({ kind: 'later' });
    expect((await harness.types()).at(-1)).toBe('CancellationOutcomeUnknown');
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({ type: 'CancellationConfirmed', data: { request: 2 } });
  });
});
