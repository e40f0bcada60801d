import { cancellationRequestId } from '../../domain/common/access-key.js';
import { DAY_MS, epochMs, type Instant } from '../../domain/common/time.js';
import { isSameCompany } from '../holder.js';
import type { Code } from '../messages.js';
import type { Municipality } from '../state/entries.js';
import type { Note } from '../state/ledger.js';
import { testEffect } from '../test-values.js';
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

/**
 * The rules of annex II that a cancellation can break, in its order. E0813 and E0822 to E0824 apply only to a note that no event bars.
 */
const RULES: { readonly [C in Code]?: (context: EventContext) => boolean } = {
  E1845: ({ request, tpAmb }) => request.tpAmb !== tpAmb,
  E1827: ({ request, pathKey }) =>
    request.id !== cancellationRequestId(request.accessKey) || pathKey !== request.accessKey,
  E0812: ({ request, signer }) => signer === undefined || !isSameCompany(signer, request.author),
  E1831: ({ note, isElsewhere }) => note === undefined && !isElsewhere,
  E0831: ({ note, isElsewhere }) => note === undefined && isElsewhere,
  E0840: (context) => context.note !== undefined && isBarred(context),
  E0813: (context) => isOpen(context, (note) => !isSameCompany(context.request.author, note.cnpj)),
  E0822: (context) => isOpen(context, (note) => isTooLate(context, note) || testEffect('event', note) === 'refuse'),
  E0823: (context) =>
    isOpen(context, (note) => note.amountInCents > (context.municipality.cancelMaxAmountInCents ?? Infinity)),
  E0824: (context) =>
    isOpen(context, (note) => context.municipality.customerRequired === true && note.customer === undefined),
};

/** The codes of all rules that the request breaks, in the order of the annex. */
export const brokenEventRules = (context: EventContext): readonly Code[] =>
  Object.entries(RULES).flatMap(([code, isBroken]) => (isBroken(context) ? [code as Code] : []));

const isBarred = ({ events }: EventContext): boolean => cancellationBar(events) !== undefined;

const isOpen = (context: EventContext, test: (note: Note) => boolean): boolean =>
  context.note !== undefined && !isBarred(context) && test(context.note);

const isTooLate = ({ municipality: { cancelDays }, now }: EventContext, note: Note): boolean =>
  cancelDays !== undefined && epochMs(now) > epochMs(note.authorizedAt) + cancelDays * DAY_MS;
