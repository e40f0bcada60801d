/** What a place holds of a customer, whoever it is: said in every report, so that it is whole (LGPD art. 18 and 19). */
export type Holding = { place: string; holds: string; why: string; until: string };

/** How long tax law demands is no question for a program: it names the term and who knows it. */
const TAX_TERM = 'prazo decadencial/prescricional tributário: confirm with your accountant. The service deletes none';
const OBLIGATION = 'fiscal document and its proof: legal obligation (Lei 13.709/2018, art. 7, II and art. 16, I)';

export const holdings: readonly Holding[] = [
  {
    place: 'event log, live invoices',
    holds: 'customer, description, signed documents, answers of the authorizer: each field sealed',
    why: OBLIGATION,
    until: TAX_TERM,
  },
  {
    place: 'event log, test invoices',
    holds: 'the same, of rehearsals without fiscal value',
    why: 'the client asked for a test',
    until:
      'the end of the invoice; in EventStoreDB its files until the next scavenge, unreadable once the keys are gone',
  },
  {
    place: 'read model',
    holds: 'customer and description, sealed as in the log',
    why: 'answers are made from it',
    until: 'as the events, also in the generation that is kept for a rollback',
  },
  {
    place: 'guards',
    holds: 'hashes of requests, keys and descriptions, nothing in clear',
    why: 'a repeated request must not issue twice',
    until: '24 hours',
  },
  { place: 'queue', holds: 'names of streams, nothing personal', why: 'work to do', until: 'the work is done' },
  {
    place: 'memory of the processes',
    holds: 'invoices read lately, opened',
    why: 'speed',
    until: 'others take their place or the process ends; test invoices a minute after their end',
  },
  {
    place: 'local tax registry',
    holds: 'legal name and address of CNPJs that operators entered, sealed',
    why: 'names on invoices are those of the registry',
    until: 'the log keeps every version that was entered',
  },
  {
    place: 'exports of events',
    holds: 'the sealed fields; in clear too when made with --reveal, which audit-reveals names',
    why: 'audit',
    until: 'whoever made them deletes them; sealed test fields are unreadable once the keys are gone',
  },
  {
    place: 'backups',
    holds: 'the sealed fields; those of nfse backup have no key of a test day',
    why: 'to survive a loss',
    until: 'you delete them; test fields are unreadable once the keys are gone, if the backup holds no such key',
  },
  { place: 'logs and metrics', holds: 'nothing personal, at any level', why: '-', until: '-' },
  {
    place: 'the authorizer',
    holds: 'every DPS that was sent and every note; the simulator keeps them in its folder',
    why: 'it is the tax authority, and answers for its own data',
    until: 'its rules',
  },
];
