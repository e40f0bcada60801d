import { areaReasons, areas, reasonsOf } from './areas.js';
import { cancellationReasons } from './cancellation-reasons.js';
import { customerReasons } from './customer-reasons.js';
import { documentReasons } from './document-reasons.js';
import { emissionReasons } from './emission-reasons.js';
import { providerReasons } from './provider-reasons.js';
import { serviceReasons } from './service-reasons.js';
import { taxReasons } from './tax-reasons.js';

/** Written for the code itself: those met most (domain.md section 17). A map, for codes come from outside. */
export const ownReasons: ReadonlyMap<string, string> = new Map(
  [
    ...[emissionReasons, providerReasons, customerReasons, serviceReasons, taxReasons],
    ...[documentReasons, cancellationReasons],
  ].flatMap((reasons) => Object.entries(reasons)),
);

/**
 * What a shop owner is told about a code of the national system: what is wrong in plain words, and what to do. Never the system's
 * own wording. Undefined for a code that nobody has catalogued.
 */
export const reasonOf = (code: string): string | undefined => ownReasons.get(code) ?? areaReasons.get(code);

/**
 * As `reasonOf`, for a cancellation. Reasons about a note tell to correct it and to issue it anew, which after a failed
 * cancellation nobody may (spec "Cancellation object"): their codes get the reason of all refused requests.
 */
export const cancellationReasonOf = (code: string): string | undefined =>
  reasonOf(code) === undefined
    ? undefined
    : (ownCancellationReasons.get(code) ?? requestReasons.get(code) ?? areas.event.reason);

const ownCancellationReasons: ReadonlyMap<string, string> = new Map(Object.entries(cancellationReasons));

/** Of the areas that are about any signed request, not about a note. */
const requestReasons = reasonsOf([areas.signature, areas.certificate, areas.payload, areas.unavailable, areas.query]);

/** Of several codes the one that says most: the first with a reason of its own, else the first that is catalogued. */
export const mainReason = (codes: readonly string[]): string | undefined =>
  reasonOf(codes.find((code) => ownReasons.has(code)) ?? codes.find((code) => areaReasons.has(code)) ?? '');
