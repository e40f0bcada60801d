import { describe, expect, it } from 'vitest';
import { specialCodes } from '../../../src/adapters/authorizer/answer-table.js';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { judgeLookup, judgeSend } from '../../../src/adapters/authorizer/judge-answer.js';
import { errors } from '../../support/harness/authorizer-client.js';

/** The meaning of a code that is alone in a refusal of a DPS, in one of an event, and in a 404 to the look-up of an event. */
type Meaning = { dps: string; event: string; lookUp: 'absent' | 'inconclusive'; outage?: true };

const CHANNEL: Meaning = { dps: 'certificate_refused', event: 'certificate_refused', lookUp: 'inconclusive' };
const PASSES: Meaning = { dps: 'transient_code', event: 'transient_code', lookUp: 'inconclusive' };
const OF_LOOK_UPS: Meaning = { dps: 'uncatalogued_code', event: 'uncatalogued_code', lookUp: 'absent' };
const NOT_FINAL_FOR_DPS: Meaning = { dps: 'code_not_final', event: 'rejected', lookUp: 'absent' };
const NOT_FINAL_FOR_EVENT: Meaning = { dps: 'rejected', event: 'code_not_final', lookUp: 'absent' };

const meanings: Readonly<Record<string, Meaning>> = {
  E0008: { dps: 'stamp_ahead', event: 'rejected', lookUp: 'absent' },
  E1200: CHANNEL,
  E1203: CHANNEL,
  E1205: CHANNEL,
  E1206: PASSES,
  E1207: CHANNEL,
  E1208: CHANNEL,
  E1209: CHANNEL,
  E1217: { ...PASSES, outage: true },
  E1263: NOT_FINAL_FOR_DPS,
  E1268: NOT_FINAL_FOR_DPS,
  E1278: { ...NOT_FINAL_FOR_DPS, event: 'code_not_final' },
  E1802: NOT_FINAL_FOR_EVENT,
  E1831: NOT_FINAL_FOR_EVENT,
  E1843: { dps: 'rejected', event: 'stamp_ahead', lookUp: 'absent' },
  E1983: NOT_FINAL_FOR_EVENT,
  E1986: NOT_FINAL_FOR_EVENT,
  E1991: NOT_FINAL_FOR_EVENT,
  E2220: OF_LOOK_UPS,
  E2243: OF_LOOK_UPS,
  E2401: OF_LOOK_UPS,
  E2404: OF_LOOK_UPS,
  E2406: OF_LOOK_UPS,
  E999: PASSES,
  RNG9999: PASSES,
};

const answered = (status: number, code: string): Exchange => {
  const envelope = { tipoAmbiente: 2, dataHoraProcessamento: '2026-08-28T14:37:08-03:00' };
  const body = Buffer.from(JSON.stringify({ ...envelope, ...errors(code) }));
  return { kind: 'answered', status, contentType: 'application/json', body };
};

const meaningOf = (code: string): Meaning => {
  const results = (['dps', 'event'] as const).map((subject) =>
    judgeSend(subject, 'DPS1', answered(400, code), () => ({ reason: 'unread' })),
  );
  const [dps, event] = results.map((result) => ('reason' in result ? result.reason : result.kind));
  const { kind } = judgeLookup(answered(404, code), 'any');
  if (dps === undefined || event === undefined || kind === 'present') throw new Error('not judged');
  const isOutage = results.some((result) => 'outage' in result);
  return { dps, event, lookUp: kind, ...(isOutage ? { outage: true } : {}) };
};

describe('the codes with a special meaning', () => {
  it('are each in a row here', () => {
    expect(Object.keys(meanings)).toEqual([...specialCodes]);
  });

  it.each(Object.entries(meanings))('%s means %j', (code, meaning) => {
    expect(meaningOf(code)).toEqual(meaning);
  });
});
