import { gzipSync } from 'node:zlib';
import type { InvoiceEventData } from '../../domain/invoice/events.js';
import {
  recordCancelNotSent,
  recordCancelRefusal,
  recordCancelUnknown,
  recordConfirmation,
} from '../../domain/invoice/record-cancellation.js';
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
  document: { requestId: string; digest: string },
  result: SendResult<RegisteredEvent>,
  deps: IssuerDeps,
): Promise<void> => {
  const at = deps.clock.now();
  const recorded = await recordDecision(stream, 'record_cancel_outcome', deps, (state) => {
    switch (result.kind) {
      case 'done':
        return isOurs(result.result, document)
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

/** The embedded request of an event, as `whose` asks for it. */
export const requestOf = ({ requestDigest, contradiction }: RegisteredEvent) => ({
  dpsDigest: requestDigest,
  ...(contradiction === undefined ? {} : { contradiction }),
});

/** Another party may have canceled the note under the same event id: only our own request confirms ours. */
export const isOurs = (event: RegisteredEvent, send: { requestId: string; digest: string }): boolean =>
  event.requestId === send.requestId && event.requestDigest === send.digest;

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
