/**
 * `IBSCBS/cIndOp`, the operation indicators of annex C, as far as the rules tell them apart. Those that are not here need groups
 * or places that the API has no fields for: real estate (E0932), events, transport (where a journey begins or a load is
 * delivered), the recipient's address, a place that is neither party's.
 */

/** Where the operation is placed by the customer's address: customer and address are demanded (E0187, E0234). */
const BY_CUSTOMER: ReadonlySet<string> = new Set(['100101', '100301', '100501']);

/** Where it is placed by the provider's establishment, or by `locPrest`: on a person, on goods, in a port. */
const BY_PROVIDER: ReadonlySet<string> = new Set(['030101', '050101', '050201']);

/** True where E0234 demands the customer's address. */
export const isIdentifiedByCustomer = (cIndOp: string | undefined): boolean =>
  cIndOp !== undefined && BY_CUSTOMER.has(cIndOp);

/** True for an operation of which this service knows everything that the layout asks about it. */
export const isDeclarable = (cIndOp: string): boolean => BY_CUSTOMER.has(cIndOp) || BY_PROVIDER.has(cIndOp);
