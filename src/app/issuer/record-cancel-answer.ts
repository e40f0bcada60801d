import { gzipSync } from 'node:zlib';
import type { InvoiceEvent, InvoiceEventData } from '../../domain/invoice/events.js';
import {
  recordCancelNotSent,
  recordCancelRefusal,
  recordCancelUnknown,
  recordConfirmation,
} from '../../domain/invoice/record-cancellation.js';
import { compareSent, type FoundDocument, type Owner, sentOf } from '../../domain/invoice/sent-document.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import type { RegisteredEvent, SendResult } from '../../ports/authorizer.js';
import { sha256Hex } from '../hashes.js';
import { type IssuerDeps, tell } from './deps.js';
import { recordDecision } from './record.js';

/** What the send of a cancellation saw, as an event. A success that is not our event is no success. */
export const recordCancelAnswer = async (
  stream: StreamName,
  sent: { request: number; attempt: number },
  document: SentRequest,
  result: SendResult<RegisteredEvent>,
  deps: IssuerDeps,
): Promise<void> => {
  const at = deps.clock.now();
  const recorded = await recordDecision(stream, 'record_cancel_outcome', deps, (state) => {
    switch (result.kind) {
      case 'done':
        return compareRequest(result.result, [document]) === 'ours'
          ? recordConfirmation(state, confirmationFrom(result.result, sent.request, 'response', at))
          : recordCancelUnknown(state, { ...sent, reason: 'the answer holds another event', codes: [], at });
      case 'not_sent':
        return recordCancelNotSent(state, { ...sent, reason: result.reason, codes: result.codes, at });
      case 'rejected': {
        const { kind: _kind, ...answer } = result;
        return recordCancelRefusal(state, sent, answer, at);
      }
      case 'unknown': {
        const { kind: _kind, outage: _outage, signatureFault: _fault, ...answer } = result;
        return recordCancelUnknown(state, { ...sent, ...answer, at });
      }
      default:
        return unreachable(result);
    }
  });
  if (result.kind === 'unknown' && result.signatureFault !== undefined) {
    tell(deps, { notice: 'signature_unverified', stream, detail: result.signatureFault });
  }
  if (!recorded) tell(deps, { notice: 'outcome_not_recorded', stream, detail: result.kind });
  if (result.kind === 'not_sent' && result.certificateRefused) tell(deps, { notice: 'certificate_refused', stream });
};

/**
 * Another party may have canceled the note under the same event id: only our own request confirms ours. The authorizer's own web
 * pages register requests without a signature; such a request claims nothing, so inside of a signed event it is another's.
 */
export const compareRequest = (event: RegisteredEvent, sends: readonly SentRequest[]): Owner => {
  const sent = sends.filter(({ requestId }) => requestId === event.requestId).map(sentOf);
  const { contradiction, signatureFault } = event;
  if (signatureFault === undefined && contradiction?.claimed === '' && contradiction.computed !== '')
    return compareSent(sent, { digest: contradiction.computed }) === 'ours' ? 'unknown' : 'other';
  return compareSent(sent, foundRequest(event));
};

/** What the log keeps of a request that was sent. */
export type SentRequest = { requestId: string; digest: string; signatureMark?: string };

/** Whatever this invoice ever sent, earlier requests included: a late commit of one of them is our event too. */
export const sentRequests = (events: readonly InvoiceEvent[]): readonly SentRequest[] =>
  events.flatMap((event) => (event.type === 'CancellationAttempted' ? [event.data] : []));

/** The embedded request as the comparison wants it. */
export const foundRequest = ({
  requestDigest: digest,
  signatureMark,
  contradiction,
  signatureFault,
}: RegisteredEvent): FoundDocument => ({
  digest,
  ...(signatureMark === undefined ? {} : { signatureMark }),
  ...(contradiction === undefined ? {} : { contradiction }),
  ...(signatureFault === undefined ? {} : { signatureFault }),
});

export const confirmationFrom = (
  event: RegisteredEvent,
  request: number,
  evidence: 'response' | 'lookup',
  at: string,
): InvoiceEventData<'CancellationConfirmed'> => ({
  request,
  eventXmlGzip: gzipSync(event.xml).toString('base64'),
  eventSha256: sha256Hex(event.xml),
  canceledAt: event.registeredAt,
  evidence,
  at,
});
