import { cancellationRequestId } from '../../domain/shared/access-key.js';
import { epochMs, type Instant } from '../../domain/shared/time.js';
import { isSameCompany } from '../holder.js';
import type { Code } from '../messages.js';
import type { Note } from '../state/ledger.js';
import type { Municipality } from '../state/registry.js';
import { cancellationBar } from './kinds.js';

/** A cancellation request, and what the environment holds about its note. */
export type EventContext = {
  request: { id: string; accessKey: string; author: string; tpAmb: string };
  /** Access key in the path of the request. */
  pathKey: string;
  /** CNPJ of the signing certificate. */
  signer: string | undefined;
  tpAmb: string;
  /** The authorizer's clock. */
  now: Instant;
  note: Note | undefined;
  isElsewhere: boolean;
  /** Stored types of the events on the note. */
  events: readonly string[];
  /** Parameters of the note's municipality. */
  municipality: Municipality;
};

type EventRule = { code: Code; broken(context: EventContext): boolean };

/** The rules of annex II that a cancellation can break. E0813 and E0822 to E0824 apply only to a note that no event bars. */
const RULES: readonly EventRule[] = [
  { code: 'E1845', broken: ({ request, tpAmb }) => request.tpAmb !== tpAmb },
  {
    code: 'E1827',
    broken: ({ request, pathKey }) =>
      request.id !== cancellationRequestId(request.accessKey) || pathKey !== request.accessKey,
  },
  { code: 'E0812', broken: ({ request, signer }) => signer === undefined || !isSameCompany(signer, request.author) },
  { code: 'E1831', broken: ({ note, isElsewhere }) => note === undefined && !isElsewhere },
  { code: 'E0831', broken: ({ note, isElsewhere }) => note === undefined && isElsewhere },
  { code: 'E0840', broken: (context) => context.note !== undefined && isBarred(context) },
  { code: 'E0813', broken: (context) => isOpen(context, (note) => !isSameCompany(context.request.author, note.cnpj)) },
  { code: 'E0822', broken: (context) => isOpen(context, (note) => isTooLate(context, note)) },
  {
    code: 'E0823',
    broken: (context) =>
      isOpen(context, (note) => note.amountInCents > (context.municipality.cancelMaxAmountInCents ?? Infinity)),
  },
  {
    code: 'E0824',
    broken: (context) =>
      isOpen(context, (note) => context.municipality.customerRequired === true && note.customer === undefined),
  },
];

/** The codes of all rules that the request breaks, in the order of the annex. */
export const brokenEventRules = (context: EventContext): readonly Code[] =>
  RULES.filter((rule) => rule.broken(context)).map(({ code }) => code);

const isBarred = ({ events }: EventContext): boolean => cancellationBar(events) !== undefined;

const isOpen = (context: EventContext, test: (note: Note) => boolean): boolean =>
  context.note !== undefined && !isBarred(context) && test(context.note);

const isTooLate = ({ municipality: { cancelDays }, now }: EventContext, note: Note): boolean =>
  cancelDays !== undefined && epochMs(now) > epochMs(note.authorizedAt) + cancelDays * 86_400_000;
