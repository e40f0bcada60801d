import { describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { areaReasons } from '../../../src/domain/invoice/messages/areas.js';
import { cancellationReasonOf, reasonOf } from '../../../src/domain/invoice/messages/reasons.js';
import { cancellationError, invoiceError } from '../../../src/http/invoice-error.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  conflictFound,
  givenInvoice,
  interrupted,
  notSent,
  provenAbsent,
  refusedAfterOthers,
  rejected,
  unknown,
} from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

/** The reasons that a shop owner can act on, word for word. */
const reasons: readonly [string, string][] = [
  ['E0008', 'A data de emissão ficou adiante do relógio do sistema nacional. Emita de novo em alguns minutos.'],
  ['E0037', 'O município do prestador não está no cadastro do convênio nacional. Fale com o suporte.'],
  ['E0038', 'O convênio do município do prestador não está ativo. Fale com o suporte.'],
  ['E0039', 'O município do prestador não usa o emissor nacional. Fale com o suporte.'],
  ['E0116', 'O município exige a inscrição municipal do prestador. Informe-a ao suporte e emita de novo.'],
  [
    'E0120',
    'A inscrição municipal informada não existe no cadastro nacional do município. Peça ao suporte que a corrija ou retire.',
  ],
  ['E0160', 'O regime tributário do cadastro difere do registrado no Simples Nacional. Peça ao suporte que o corrija.'],
  ['E0188', 'O CNPJ do cliente é inválido. Corrija customer.document e emita de novo.'],
  ['E0190', 'O CNPJ do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.'],
  ['E0202', 'O cliente não pode ser o próprio prestador. Corrija customer.document e emita de novo.'],
  ['E0206', 'O CPF do cliente é inválido. Corrija customer.document e emita de novo.'],
  ['E0207', 'O CPF do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.'],
  ['E0310', 'O código de serviço não existe na lista nacional. Fale com o suporte.'],
  ['E0316', 'O código NBS da atividade não existe na tabela nacional. Fale com o suporte.'],
  ['E0822', 'O prazo do município para cancelar a nota terminou. Peça o cancelamento à prefeitura.'],
  [
    'E0840',
    'Outro evento já está vinculado à nota e impede o cancelamento. Veja na consulta pública da NFS-e qual é ou pergunte à prefeitura.',
  ],
];

const GENERIC = 'O sistema nacional recusou a nota e nada foi emitido. Confira os dados enviados e emita de novo.';

const errorAfter = (...events: InvoiceEvent[]) => invoiceError(givenInvoice(accepted(), ...events));

const refusedWith = (...codes: string[]) => errorAfter(attempted(1, 1), rejected(1, 2, codes));

describe('the message of a refused invoice', () => {
  it.each(reasons)('for %s is: %s', (code, text) => {
    expect(refusedWith(code)).toEqual({ code: 'issue_failed', message: `${text} (${code})` });
  });

  it('for E0312 keeps the service, and reads as it did of an invoice that had failed before this text', () => {
    const refusedAt = (instant: string) =>
      errorAfter(attempted(1, 1), { type: 'IssuanceRejected', data: { attempt: 1, codes: ['E0312'], at: instant } });
    expect(refusedAt('2026-11-29T23:59:59.999Z')?.message).toBe(
      'O município não administra este código de serviço. Use outra atividade ou fale com o suporte. (E0312)',
    );
    expect(refusedAt('2026-11-30T00:00:00.000Z')?.message).toBe(
      'O município não administra este código de serviço, ou só com um código municipal. Não troque o serviço prestado: peça ao suporte que confira o código municipal do cadastro. (E0312)',
    );
  });

  it('for E0116 says since December 2026 that the registration must be the registered one', () => {
    const refusedAt = (instant: string) =>
      errorAfter(attempted(1, 1), { type: 'IssuanceRejected', data: { attempt: 1, codes: ['E0116'], at: instant } });
    expect(refusedAt('2026-11-30T23:59:59.999Z')?.message).toMatch(/^O município exige .* do prestador\. Informe-a/);
    expect(refusedAt('2026-12-01T00:00:00.000Z')?.message).toMatch(/igual à que ele registrou .* Confira-a/);
  });

  it.each(['E0178', 'E0234', 'E0318', 'E0320', 'E0420', 'E1402'])(
    'for %s does not advise another activity, and reads as it did of an invoice that failed before December 2026',
    (code) => {
      const refusedAt = (at: string) =>
        errorAfter(attempted(1, 1), { type: 'IssuanceRejected', data: { attempt: 1, codes: [code], at } })?.message;
      expect(refusedAt('2026-11-30T23:59:59.999Z')).toMatch(
        /[Uu]se outra atividade|Confira (?:a atividade|o cadastro do cliente)/,
      );
      expect(refusedAt('2026-12-01T00:00:00.000Z')).toMatch(
        /não use o código de outro serviço|portal nacional|Confirme o regime/,
      );
    },
  );

  it.each([
    ['E0540', /^O sistema nacional não aceitou os valores/, /portal nacional ou fale com o suporte/],
    ['E0903', /^O sistema nacional não aceitou as informações de IBS e CBS/, /o tipo da operação/],
    ['E0958', /^O sistema nacional não aceitou as informações de IBS e CBS/, /Pergunte ao contador qual classificação/],
  ])(
    'for %s says what to do, and reads as it did of an invoice that failed before December 2026',
    (code, before, since) => {
      const refusedAt = (instant: string, ...codes: string[]) =>
        errorAfter(attempted(1, 1), { type: 'IssuanceRejected', data: { attempt: 1, codes, at: instant } })?.message;
      expect(refusedAt('2026-11-30T23:59:59.999Z', code)).toMatch(before);
      expect(refusedAt('2026-12-01T00:00:00.000Z', code)).toMatch(since);
      // The text of a code came before the text of an area.
      expect(refusedAt('2026-11-30T23:59:59.999Z', code, 'E0207')).toMatch(/^O CPF do cliente não existe/);
      expect(refusedAt('2026-12-01T00:00:00.000Z', code, 'E0207')).toMatch(since);
    },
  );

  it('is the first reason that we know, and ends in all the codes', () => {
    expect(refusedWith(UNCATALOGUED_CODE, 'E0207', 'E0188')?.message).toBe(
      `O CPF do cliente não existe na Receita Federal. Corrija customer.document e emita de novo. (${UNCATALOGUED_CODE}, E0207, E0188)`,
    );
  });

  it('is rather one written for the code than that of its area, in whatever order they come', () => {
    expect(refusedWith('E0299', 'E0207')?.message).toMatch(/^O CPF do cliente não existe.* \(E0299, E0207\)$/);
    expect(refusedWith(UNCATALOGUED_CODE, 'E0299')?.message).toMatch(
      /^O sistema nacional não aceitou os dados do intermediário/,
    );
  });

  it.each([
    ['E0038', /^O convênio do município do prestador não está ativo/],
    ['E0299', /^O sistema nacional não aceitou os dados do intermediário/],
    [UNCATALOGUED_CODE, /^A data de emissão ficou adiante/],
  ])('is of E0008, which passes by itself, only where no other code has a text: beside %s', (other, text) => {
    expect(refusedWith('E0008', other)?.message).toMatch(text);
    expect(refusedWith(other, 'E0008')?.message).toMatch(text);
  });

  it.each(['E1260', 'E1274', 'E1278'])(
    'for %s, a code of notes and of events, does not speak of a cancellation',
    (code) => {
      expect(refusedWith(code)?.message).toMatch(/^(?:O formato|O documento|A hora) .*: fale com o suporte\. /);
      expect(refusedWith(code)?.message).not.toContain('cancelamento');
      expect(cancellationReasonOf(code)).toBe(reasonOf(code));
    },
  );

  it('is a general one for codes that we do not know', () => {
    expect(refusedWith(UNCATALOGUED_CODE)?.message).toBe(`${GENERIC} (${UNCATALOGUED_CODE})`);
  });

  it('takes no word that every object knows for a known code', () => {
    expect(refusedWith('toString')?.message).toBe(`${GENERIC} (toString)`);
  });
});

describe('the message of an invoice that failed otherwise', () => {
  it.each<[string, InvoiceEvent, string, string]>([
    [
      'never sent: may be issued anew',
      { type: 'IssuanceFailed', data: { failedAt: at(3601), at: at(3601) } },
      'issue_failed',
      'A nota não chegou ao sistema nacional e nada foi emitido. É seguro emitir de novo.',
    ],
    [
      'no name for the customer',
      { type: 'IssuanceFailed', data: { failedAt: at(3), reason: 'customer_name_missing', at: at(3) } },
      'issue_failed',
      'O cadastro não deu o nome do cliente: não tem o CNPJ ou não respondeu. Nenhum nome foi enviado. Envie customer.name e emita de novo.',
    ],
    [
      'no name for the customer, since December 2026',
      {
        type: 'IssuanceFailed',
        data: { failedAt: '2026-12-01T00:00:00.000Z', reason: 'customer_name_missing', at: '2026-12-01T00:00:00.000Z' },
      },
      'issue_failed',
      'O cadastro da Receita não informou o nome deste CNPJ (não o tem ou não respondeu), e customer.name não foi enviado. Envie customer.name e emita de novo, com outra Idempotency-Key e outra reference.',
    ],
    [
      'a document that our own check refuses',
      { type: 'IssuanceFailed', data: { failedAt: at(3), reason: 'document_invalid', at: at(3) } },
      'issue_failed',
      'A nota não cabe na forma que o sistema nacional exige e não foi enviada. Nada foi emitido. Confira a descrição e o cliente; se estiverem certos, fale com o suporte.',
    ],
    [
      'not begun in time',
      { type: 'NotProcessed', data: { failedAt: at(900), at: at(900) } },
      'nfse.not_processed',
      'A emissão não chegou a ser iniciada. A causa não está nos dados da nota, e sim na habilitação da empresa ou numa interrupção (do serviço ou do sistema nacional): fale com o suporte.',
    ],
    [
      'nobody knows',
      interrupted,
      'nfse.issue_interrupted',
      'O resultado da emissão não pôde ser confirmado e a nota pode ter sido autorizada. Não emita de novo: fale com o suporte.',
    ],
  ])('%s', (_why, end, code, message) => {
    expect(errorAfter(end)).toEqual({ code, message });
  });

  const settled: InvoiceEvent = {
    type: 'IndeterminateResolved',
    data: { as: 'failed', evidence: 'consulta', at: at(90_000) },
  };

  it('is the reason of a refusal when support settles what an earlier send had left open', () => {
    const story = [attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 131)];
    expect(errorAfter(...story, refusedAfterOthers(2, 132, ['E0190']), interrupted, settled)).toEqual({
      code: 'issue_failed',
      message: 'O CNPJ do cliente não existe na Receita Federal. Corrija customer.document e emita de novo. (E0190)',
    });
  });

  it.each([
    ['support has settled it', [attempted(1, 1), unknown(1, 2), interrupted, settled]],
    [
      'another party’s note has the number of a send',
      [
        attempted(1, 1),
        conflictFound(1, 40),
        attempted(2, 50),
        notSent(2, 51),
        { type: 'IssuanceFailed', data: { failedAt: at(3601), at: at(3601) } },
      ],
    ],
  ] as [string, InvoiceEvent[]][])('says that the note was sent, where no code is known: %s', (_why, story) => {
    expect(errorAfter(...story)).toEqual({
      code: 'issue_failed',
      message: 'A nota foi enviada ao sistema nacional, que não emitiu nada. É seguro emitir de novo.',
    });
  });

  it('is absent as long as nothing failed', () => {
    expect(errorAfter()).toBeUndefined();
    expect(errorAfter(attempted(1, 1), authorized(1, 2))).toBeUndefined();
  });
});

describe('the message of a failed cancellation', () => {
  const generic = 'O cancelamento não foi confirmado pelo sistema nacional. Não emita outra nota: fale com o suporte.';

  it('never names a reason in live mode', () => {
    expect(cancellationError(['E0822'], 'live')).toEqual({ code: 'nfse.cancel_failed', message: generic });
  });

  it('names none in test mode when there is none', () => {
    expect(cancellationError([], 'test').message).toBe(generic);
  });

  it('names in test mode every code, and in words those that we know', () => {
    expect(cancellationError(['E0840', UNCATALOGUED_CODE], 'test').message).toBe(
      `O cancelamento não foi confirmado pelo sistema nacional. Motivo do autorizador: E0840: Outro evento já está vinculado à nota e impede o cancelamento. Veja na consulta pública da NFS-e qual é ou pergunte à prefeitura. ${UNCATALOGUED_CODE}. Não emita outra nota: fale com o suporte.`,
    );
  });

  it.each(['E0116', 'E0188', 'E0715', 'E0718', 'E1235', 'RNG6110'])(
    'never tells to issue anew for %s, whose reason does so for a note',
    (code) => {
      expect(reasonOf(code)).toMatch(/emita de novo|descrição/);
      const { message } = cancellationError([code], 'test');
      expect(message).toContain(`${code}: `);
      expect(message).not.toMatch(/emita de novo|descrição|nome do cliente/i);
    },
  );

  it('is about the cancellation for every code that has a reason', () => {
    expect(areaReasons.size).toBeGreaterThan(0);
    for (const code of areaReasons.keys())
      expect(cancellationReasonOf(code)).not.toMatch(/emita|emitir de novo|customer|amount_in_cents/i);
  });
});
