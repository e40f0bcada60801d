import { errorCatalogue } from '../../src/domain/common/error-catalogue.js';
import { cancelBody } from '../../src/http/body/cancel-schema.js';
import { issueBody } from '../../src/http/body/issue-schema.js';
import { activityListResponse, errorResponse, invoiceResponse } from '../../src/http/openapi/schemas.js';

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);

const each = (prefix: string, names: readonly string[]): readonly string[] => names.map((name) => `${prefix}-${name}`);

const words = (text: string): readonly string[] => text.split(' ');

/** The groups of requirements, with how many rules or which fields each of them has. */
const sections: readonly (readonly string[])[] = [
  [...numbered('SVC', 9), ...numbered('SVC-10', 5).map((id) => id.replace('10-', '10.'))],
  ['ID-1', 'ID-2', 'ID-3'],
  each('INV', Object.keys(invoiceResponse.entries)),
  each('CUST', words('document name type tax_id tax_id_absence_reason address')),
  each('FAMT', words('currency amount_in_cents')),
  each('CXL', words('status requested_at reason error separate')),
  each('IERR', words('code message issue_failed nfse.not_processed nfse.issue_interrupted nfse.cancel_failed')),
  each('LINK', words('pdf xml')),
  each('LIST', words('object has_more data')),
  each('ACT', Object.keys(activityListResponse.entries.data.item.entries)),
  each('STATE', words('queued processing issued failed indeterminate canceled')),
  numbered('TRANS', 9),
  ['HTTP-ORDER'],
  each(
    'HDR',
    words('Request-Id RateLimit-Limit RateLimit-Remaining RateLimit-Reset Retry-After Location Link 401-403'),
  ),
  each('POST', ['Content-Type', 'Idempotency-Key', ...Object.keys(issueBody.entries), 'responses']),
  each('POSTC', Object.keys(issueBody.entries.customer.wrapped.entries)),
  each('POSTA', Object.keys(issueBody.entries.customer.wrapped.entries.address.wrapped.entries)),
  each('POSTF', Object.keys(issueBody.entries.foreign_amount.wrapped.entries)),
  numbered('LINE', 4),
  numbered('IDEM', 6),
  numbered('FIND', 4),
  numbered('GET', 4),
  [...each('CANCEL', Object.keys(cancelBody.entries)), ...numbered('CANCEL', 5), 'CANCEL-responses'],
  numbered('PDF', 6),
  numbered('XML', 5),
  numbered('LISTACT', 4),
  numbered('AUTH', 6),
  ['EVENTS-1'],
  numbered('TEXT', 5),
  each('ERR', Object.keys(errorResponse.entries.error.entries)),
  ['ERR-retryable-set', 'ERR-same-key'],
  each('CODE', Object.keys(errorCatalogue)),
  numbered('LIMIT', 18),
  numbered('VER', 7),
];

/** Every id that `docs/contract.md` must have, and no other. Fields and codes come from the schemas that the handlers use. */
export const requiredIds = (): readonly string[] => sections.flat();
