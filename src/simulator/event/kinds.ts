/** An event of annex II: its `xDesc`, and whether it bars a later cancellation (docs/national-system.md#matrix). */
type Kind = { name: string; barsCancellation: boolean };

export const EVENT_KINDS = {
  '101101': { name: 'Cancelamento de NFS-e', barsCancellation: true },
  '105102': { name: 'Cancelamento de NFS-e por Substituição', barsCancellation: true },
  '101103': { name: 'Solicitação de Análise Fiscal para Cancelamento de NFS-e', barsCancellation: true },
  '105104': { name: 'Cancelamento de NFS-e Deferido por Análise Fiscal', barsCancellation: true },
  '105105': { name: 'Cancelamento de NFS-e Indeferido por Análise Fiscal', barsCancellation: true },
  '202201': { name: 'Manifestação de NFS-e - Confirmação do Prestador', barsCancellation: true },
  '203202': { name: 'Manifestação de NFS-e - Confirmação do Tomador', barsCancellation: true },
  '204203': { name: 'Manifestação de NFS-e - Confirmação do Intermediário', barsCancellation: true },
  '205204': { name: 'Manifestação de NFS-e - Confirmação Tácita', barsCancellation: true },
  '202205': { name: 'Manifestação de NFS-e - Rejeição do Prestador', barsCancellation: false },
  '203206': { name: 'Manifestação de NFS-e - Rejeição do Tomador', barsCancellation: false },
  '204207': { name: 'Manifestação de NFS-e - Rejeição do Intermediário', barsCancellation: false },
  '205208': { name: 'Manifestação de NFS-e - Anulação da Rejeição', barsCancellation: true },
  '305101': { name: 'Cancelamento de NFS-e por Ofício', barsCancellation: true },
  '305102': { name: 'Bloqueio de NFS-e por Ofício', barsCancellation: false },
  '305103': { name: 'Desbloqueio de NFS-e por Ofício', barsCancellation: false },
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

/** True while the note has a block of this kind of event and no release that came after the block. `stored` has the oldest event first. */
export const isBlocked = (stored: readonly string[], about: string): boolean =>
  stored.lastIndexOf(storedType('305102', about)) > stored.lastIndexOf(storedType('305103', about));

/** Name of the first event that bars the cancellation of a note (E0840); undefined when no event does. */
export const cancellationBar = (stored: readonly string[]): string | undefined => {
  for (const entry of stored) {
    const kind = EVENT_TYPES.find((type) => type === typeOf(entry));
    if (kind === undefined) continue;
    const isBlock = entry === storedType('305102', '101101') && isBlocked(stored, '101101');
    if (EVENT_KINDS[kind].barsCancellation || isBlock) return EVENT_KINDS[kind].name;
  }
  return undefined;
};
