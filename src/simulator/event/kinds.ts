/** An event of annex II: its `xDesc`, its `TipoEvento` in the ADN's Swagger, and whether it bars a later cancellation (docs/national-system.md#matrix). */
type Kind = { name: string; adnName: string; barsCancellation: boolean };

export const EVENT_KINDS = {
  '101101': { name: 'Cancelamento de NFS-e', adnName: 'CANCELAMENTO', barsCancellation: true },
  '105102': {
    name: 'Cancelamento de NFS-e por Substituição',
    adnName: 'CANCELAMENTO_POR_SUBSTITUICAO',
    barsCancellation: true,
  },
  '101103': {
    name: 'Solicitação de Análise Fiscal para Cancelamento de NFS-e',
    adnName: 'SOLICITACAO_CANCELAMENTO_ANALISE_FISCAL',
    barsCancellation: true,
  },
  '105104': {
    name: 'Cancelamento de NFS-e Deferido por Análise Fiscal',
    adnName: 'CANCELAMENTO_DEFERIDO_ANALISE_FISCAL',
    barsCancellation: true,
  },
  '105105': {
    name: 'Cancelamento de NFS-e Indeferido por Análise Fiscal',
    adnName: 'CANCELAMENTO_INDEFERIDO_ANALISE_FISCAL',
    barsCancellation: true,
  },
  '202201': {
    name: 'Manifestação de NFS-e - Confirmação do Prestador',
    adnName: 'CONFIRMACAO_PRESTADOR',
    barsCancellation: true,
  },
  '203202': {
    name: 'Manifestação de NFS-e - Confirmação do Tomador',
    adnName: 'CONFIRMACAO_TOMADOR',
    barsCancellation: true,
  },
  '204203': {
    name: 'Manifestação de NFS-e - Confirmação do Intermediário',
    adnName: 'CONFIRMACAO_INTERMEDIARIO',
    barsCancellation: true,
  },
  '205204': {
    name: 'Manifestação de NFS-e - Confirmação Tácita',
    adnName: 'CONFIRMACAO_TACITA',
    barsCancellation: true,
  },
  '202205': {
    name: 'Manifestação de NFS-e - Rejeição do Prestador',
    adnName: 'REJEICAO_PRESTADOR',
    barsCancellation: false,
  },
  '203206': {
    name: 'Manifestação de NFS-e - Rejeição do Tomador',
    adnName: 'REJEICAO_TOMADOR',
    barsCancellation: false,
  },
  '204207': {
    name: 'Manifestação de NFS-e - Rejeição do Intermediário',
    adnName: 'REJEICAO_INTERMEDIARIO',
    barsCancellation: false,
  },
  '205208': {
    name: 'Manifestação de NFS-e - Anulação da Rejeição',
    adnName: 'ANULACAO_REJEICAO',
    barsCancellation: true,
  },
  '305101': { name: 'Cancelamento de NFS-e por Ofício', adnName: 'CANCELAMENTO_POR_OFICIO', barsCancellation: true },
  '305102': { name: 'Bloqueio de NFS-e por Ofício', adnName: 'BLOQUEIO_POR_OFICIO', barsCancellation: false },
  '305103': { name: 'Desbloqueio de NFS-e por Ofício', adnName: 'DESBLOQUEIO_POR_OFICIO', barsCancellation: false },
} as const satisfies Record<string, Kind>;

export type EventType = keyof typeof EVENT_KINDS;

export const EVENT_TYPES = Object.keys(EVENT_KINDS) as readonly EventType[];

/** The events that a municipality can block (305102). */
export const BLOCKABLE = ['101101', '105102', '105104', '105105', '305101'] as const;

/** A block or release is stored with the event type that it concerns, as in `305102:101101`; other events by their type. */
export const storedType = (type: EventType, about: string | undefined): string =>
  about === undefined ? type : `${type}:${about}`;

/** The six digits of a stored type. */
export const typeOf = (stored: string): string => stored.slice(0, 6);

export const kindOf = (stored: string): Kind | undefined =>
  (EVENT_KINDS as Readonly<Record<string, Kind>>)[typeOf(stored)];

/** True while the note has a block of this kind of event and no release that came after the block. `stored` has the oldest event first. */
export const isBlocked = (stored: readonly string[], about: string): boolean =>
  stored.lastIndexOf(storedType('305102', about)) > stored.lastIndexOf(storedType('305103', about));

/** Name of the first event that bars the cancellation of a note (E0840); undefined when no event does. */
export const cancellationBar = (stored: readonly string[]): string | undefined => {
  for (const entry of stored) {
    const kind = kindOf(entry);
    if (kind === undefined) continue;
    const isBlock = entry === storedType('305102', '101101') && isBlocked(stored, '101101');
    if (kind.barsCancellation || isBlock) return kind.name;
  }
  return undefined;
};
