import type { IssuerFacts } from '../invoice/facts.js';
import { type Canonical, element } from '../shared/canonical-xml.js';
import { totTrib } from './totTrib.js';
import { type Taxation, tribMun } from './tribMun.js';

/**
 * `valores/trib`, the taxes but IBS and CBS. Without `tribFed`, the federal ones: forbidden to a MEI (E0676), optional to the
 * others, and the API has no fields for what it declares.
 */
export const trib = (issuer: IssuerFacts, taxation: Taxation): Canonical =>
  element('trib', tribMun(taxation), totTrib(issuer));
