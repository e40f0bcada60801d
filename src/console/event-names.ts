import type { InvoiceEventType } from '../domain/invoice/events.js';
import type { Say } from './language.js';

/** What an event of an invoice says, in Portuguese and in English. */
const NAMES: Readonly<Record<InvoiceEventType, readonly [portuguese: string, english: string]>> = {
  InvoiceAccepted: ['Pedido aceito', 'Request accepted'],
  IssuanceAttempted: ['Emissão enviada', 'Issue sent'],
  IssuanceNotSent: ['Emissão não chegou ao autorizador', 'Issue did not reach the authorizer'],
  IssuanceOutcomeUnknown: ['Resultado da emissão desconhecido', 'Outcome of the issue unknown'],
  IssuanceProvenAbsent: ['Ausência da nota comprovada', 'Absence of the note proven'],
  Authorized: ['Nota autorizada', 'Note authorized'],
  IssuanceRejected: ['Emissão recusada', 'Issue refused'],
  IssuanceFailed: ['Emissão falhou', 'Issue failed'],
  NotProcessed: ['Não processada no prazo', 'Not processed in time'],
  IssuanceInterrupted: ['Encerrada sem resultado', 'Ended without an outcome'],
  NumberConflictFound: ['Número usado por outra nota', 'Number used by another note'],
  CancellationRequested: ['Cancelamento pedido', 'Cancellation requested'],
  CancellationAttempted: ['Cancelamento enviado', 'Cancellation sent'],
  CancellationNotSent: ['Cancelamento não chegou ao autorizador', 'Cancellation did not reach the authorizer'],
  CancellationOutcomeUnknown: ['Resultado do cancelamento desconhecido', 'Outcome of the cancellation unknown'],
  CancellationProvenAbsent: ['Ausência do cancelamento comprovada', 'Absence of the cancellation proven'],
  CancellationConfirmed: ['Cancelamento confirmado', 'Cancellation confirmed'],
  CancellationNotConfirmed: ['Cancelamento não confirmado', 'Cancellation not confirmed'],
  CancellationSettledBySupport: ['Cancelamento resolvido pelo suporte', 'Cancellation settled by support'],
  CancellationClosedBySupport: ['Cancelamento encerrado: a nota fica', 'Cancellation closed: the note stays'],
  NoteCanceledElsewhere: ['Nota cancelada fora daqui', 'Note canceled elsewhere'],
  IndeterminateResolved: ['Resultado definido pelo suporte', 'Outcome settled by support'],
  ReconciliationDifferenceFound: ['Diferença com o autorizador', 'Difference from the authorizer'],
  InvoiceImported: ['Nota importada', 'Note imported'],
  ReferenceTaken: ['Referência ou chave de outra nota', 'Reference or key of another note'],
  TestInvoiceDeleted: ['Nota de teste apagada', 'Test note deleted'],
};

const isNamed = (type: string): type is InvoiceEventType => Object.hasOwn(NAMES, type);

/** The readable name of an event type; a type of a newer version has none. */
export const eventName = (type: string, say: Say): string => (isNamed(type) ? say(...NAMES[type]) : '');
