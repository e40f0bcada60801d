import { type AccessKey, cancellationRequestId } from '../common/access-key.js';
import { element, elementWith, field } from '../common/canonical-xml.js';
import type { CompanyId, Mode } from '../common/ids.js';
import { addSeconds, brasiliaStamp, type Instant } from '../common/time.js';
import type { CancelReason } from '../invoice/events.js';
import { CLOCK_SLACK_SECONDS, layoutOf, NFSE_NAMESPACE, tpAmb, VER_APLIC } from './layout.js';
import { latinField } from './transliterate.js';

export type CancellationInput = {
  mode: Mode;
  /** The emitter, which requests the cancellation. */
  companyId: CompanyId;
  accessKey: AccessKey;
  reason: CancelReason;
  /** 15 to 255 characters after transliteration. */
  description: string;
  requestedAt: Instant;
};

/**
 * The unsigned request of event e101101 in canonical form, in the layout of its `dhEvento`, and its id. Every attempt for a note gives the same id
 * (docs/national-system.md#cancellation). Pure. Throws for a description without a Latin form, which the command has already refused.
 */
export const buildCancellation = (input: CancellationInput): { id: string; xml: string } => {
  const id = cancellationRequestId(input.accessKey);
  const dhEvento = brasiliaStamp(addSeconds(input.requestedAt, -CLOCK_SLACK_SECONDS));
  const infPedReg = elementWith(
    'infPedReg',
    { Id: id },
    field('tpAmb', tpAmb[input.mode]),
    field('verAplic', VER_APLIC),
    field('dhEvento', dhEvento),
    field('CNPJAutor', input.companyId),
    field('chNFSe', input.accessKey),
    element(
      'e101101',
      field('xDesc', 'Cancelamento de NFS-e'),
      field('cMotivo', REASON[input.reason]),
      latinField('xMotivo', input.description),
    ),
  );
  const { version } = layoutOf(input.mode, dhEvento);
  return { id, xml: elementWith('pedRegEvento', { xmlns: NFSE_NAMESPACE, versao: version }, infPedReg) };
};

const REASON = { issuance_error: '1', service_not_provided: '2', other: '9' } as const satisfies Record<
  CancelReason,
  string
>;
