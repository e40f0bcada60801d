import { describe, expect, it } from 'vitest';
import { judgeSend, namedCancelingEvent } from '../../../src/adapters/authorizer/judge-answer.js';
import { cancelingEvents } from '../../../src/domain/common/access-key.js';
import { EVENT_KINDS, EVENT_TYPES, type EventType } from '../../../src/simulator/event/kinds.js';

/** The text of Annex II. */
const textOf = (name: string): string =>
  `O Sistema Nacional NFS-e não pode recepecionar o EVENTO DE CANCELAMENTO DE NFS-e pois, o evento de ${name} já está vinculado à NFS-e indicada no evento enviado, impedindo sua recepção.`;

const named = (text: string, code = 'E0840') => namedCancelingEvent([{ code, text }]);

const cancels = (type: EventType): boolean => (cancelingEvents as readonly string[]).includes(type);

describe('the event that an E0840 names', () => {
  it.each(EVENT_TYPES.filter(cancels))('is %s, in any casing, with and without accents', (type) => {
    const text = textOf(EVENT_KINDS[type].name);
    const plain = text.normalize('NFD').replace(/\p{M}/gu, '');
    expect([text, text.toUpperCase(), plain, plain.toLowerCase()].map((one) => named(one))).toEqual(
      Array(4).fill(type),
    );
    expect(named(textOf(`"${EVENT_KINDS[type].name}"`))).toBe(type);
  });

  it.each(EVENT_TYPES.filter((type) => !cancels(type)))('is none for %s, which does not cancel a note', (type) => {
    expect(named(textOf(EVENT_KINDS[type].name))).toBeUndefined();
  });

  it.each([
    ['no text', ''],
    ['the placeholder of the annex', textOf('<nome_evento_vinculado_a_NFS-e>')],
    ['no name', textOf('')],
    ['another text', 'Cancelamento de NFS-e'],
    ['a cut text', textOf('Cancelamento de NFS-e').slice(0, 110)],
  ])('is none in %s', (_what, text) => {
    expect(named(text)).toBeUndefined();
  });

  it('is read beside E0840 alone', () => {
    expect(named(textOf('Cancelamento de NFS-e'), 'E0822')).toBeUndefined();
  });

  it('comes with the unknown result of the send of a cancellation, and with no send of a DPS', () => {
    const erro = [{ codigo: 'E0840', descricao: textOf('Cancelamento de NFS-e por Ofício') }];
    const exchange = {
      kind: 'answered' as const,
      status: 400,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify({ erro })),
    };
    const sent = (subject: 'event' | 'dps') => judgeSend(subject, 'PRE1', exchange, () => ({ reason: 'unread' }));
    expect(sent('event')).toMatchObject({ kind: 'unknown', codes: ['E0840'], namedEvent: '305101' });
    expect(sent('dps')).not.toHaveProperty('namedEvent');
  });
});
