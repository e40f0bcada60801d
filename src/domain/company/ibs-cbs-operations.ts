import { asksForDeferral, type Classifications, cstOf } from '../common/classification.js';

/**
 * What places an operation (annex C). `provider`: the provider's establishment, or `locPrest`, which is always the provider's municipality.
 * `confirmed`: also `locPrest`, but only an operator knows that it is there. `customer`: the customer's address, which E0234 then demands.
 */
export type Place = 'provider' | 'confirmed' | 'customer';

const PLACES: Readonly<Record<string, Place>> = {
  '030101': 'provider',
  '050101': 'provider',
  '050201': 'provider',
  '030104': 'confirmed',
  '050104': 'confirmed',
  '060101': 'confirmed',
  '070101': 'confirmed',
  '070102': 'confirmed',
  '030102': 'customer',
  '050102': 'customer',
  '100101': 'customer',
  '100301': 'customer',
  '100501': 'customer',
};

/** Operations of annex C that the layout asks more for than the API has fields for, and what that is. */
const UNMET: Readonly<Record<string, string>> = {
  '020101': 'imovel (E0932)',
  '020201': 'imovel (E0932)',
  '020301': 'imovel (E0932)',
  '030103': 'dest',
  '050103': 'dest',
  '040101': 'atvEvento',
  '080101': 'NFS-e Via',
};

/** Operations of annex C that no line can have: the service derives the first three, and the API's services are paid for. */
const NOT_CHOSEN: Readonly<Record<string, string>> = {
  '100102': 'is for customers abroad: enter 100101, the service derives it',
  '100302': 'is for customers abroad: enter 100301, the service derives it',
  '100502': 'is for customers abroad: enter 100501, the service derives it',
  '100201': 'is for services that nobody pays for',
  '100401': 'is for services that nobody pays for',
  '100601': 'is for services that nobody pays for',
};

/** Undefined for an operation that cannot be declared. */
export const placeOf = (cIndOp: string): Place | undefined => PLACES[cIndOp];

/** True for an operation of annex C that a line can have, even one that cannot be declared. */
export const isKnown = (cIndOp: string): boolean => PLACES[cIndOp] !== undefined || UNMET[cIndOp] !== undefined;

/** What a known operation lacks; nothing for one that can be declared. */
export const unmetByOperation = (cIndOp: string): readonly string[] => {
  if (PLACES[cIndOp] !== undefined) return [];
  return [UNMET[cIndOp] ?? 'ind_op'];
};

type Choice = { indOp?: string | undefined; classTrib?: string | undefined; classTribRegular?: string | undefined };

/** What is wrong with what an operator chose for a service, each by the name of its field. */
export const choiceFaults = (choice: Choice, classification: Classifications): readonly string[] => [
  ...operationFaults(choice.indOp),
  ...classificationFaults(choice, classification),
];

const operationFaults = (indOp: string | undefined): readonly string[] => {
  if (indOp === undefined || isKnown(indOp)) return [];
  const why = NOT_CHOSEN[indOp] ?? 'is not in annex C (E0901)';
  return [`ind_op ${indOp} ${why}`];
};

const classificationFaults = (choice: Choice, classification: Classifications): readonly string[] => {
  const { classTrib, classTribRegular: regular } = choice;
  if (classTrib === undefined)
    return regular === undefined ? [] : ['class_trib_regular is only for a class_trib that asks for it (E0964)'];
  const found = classification(classTrib);
  if (found === undefined) return [`class_trib ${classTrib} is no classification of a NFS-e (E0958)`];
  if (/^8[01]/.test(classTrib)) return [`class_trib ${classTrib} is of an adjustment, not of a service`];
  if (asksForDeferral(classTrib))
    return [`class_trib ${classTrib} asks for the group gDif (E0972), for which there are no fields`];
  if (!found.asksForRegular)
    return regular === undefined ? [] : [`class_trib ${classTrib} takes no class_trib_regular (E0964)`];
  if (regular === undefined) return [`class_trib ${classTrib} asks for class_trib_regular (E0965)`];
  const isRegular = classification(regular)?.asksForRegular === false && /^(?:000|200)$/.test(cstOf(regular));
  return isRegular ? [] : [`class_trib_regular ${regular} is no taxation without suspension (E0969)`];
};
