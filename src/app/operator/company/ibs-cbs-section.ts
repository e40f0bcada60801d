import * as v from 'valibot';
import { withoutMask } from '../../../domain/common/masks.js';
import { present } from '../../../domain/common/present.js';
import type { IbsCbsOfCompany } from '../../../domain/company/events.js';
import { EXPORT_CLASSIFICATIONS } from '../../../domain/company/ibs-cbs.js';
import { choiceFaults } from '../../../domain/company/ibs-cbs-operations.js';
import { explained, type FileTables, problemsIf, shaped } from '../file-text.js';

const sixDigits = shaped(/^\d{6}$/, 'must be 6 digits');

const choice = v.strictObject(
  {
    ind_op: v.optional(explained(sixDigits, 'operation indicator (cIndOp), 6 digits', '100301')),
    class_trib: v.optional(explained(sixDigits, 'tax classification (cClassTrib), 6 digits', '000001')),
    class_trib_regular: v.optional(
      explained(
        sixDigits,
        'classification that would hold without the benefit, 6 digits; only for a class_trib that asks for it',
      ),
    ),
  },
  'must be a group with ind_op or class_trib',
);

/** `ibs_cbs` of a company file: choices by national service code, `{ "010101": { "ind_op": "100301" } }`, beside two fields of the company. */
export const ibsCbsSection = v.objectWithRest(
  {
    declare: v.optional(
      explained(
        v.boolean('must be true or false'),
        'whether notes declare IBS and CBS, also before they have to; false: no note does, even when it has to',
        true,
      ),
      true,
    ),
    export_class_trib: v.optional(
      explained(
        v.picklist(EXPORT_CLASSIFICATIONS, `must be ${EXPORT_CLASSIFICATIONS.join(' or ')}`),
        'tax classification (cClassTrib) of exports',
        EXPORT_CLASSIFICATIONS[0],
      ),
    ),
  },
  choice,
);

type Section = v.InferOutput<typeof ibsCbsSection>;

type Named = { named: string; serviceCode: string; choice: v.InferOutput<typeof choice> };

const choicesOf = ({ declare: _declare, export_class_trib: _export, ...byService }: Section): readonly Named[] =>
  Object.entries(byService)
    .map(([named, one]) => ({ named, serviceCode: withoutMask(named, 'serviceCode'), choice: one }))
    .sort((one, other) => (one.serviceCode < other.serviceCode ? -1 : 1));

/** What the tables say against the choices for each service. */
export const ibsCbsProblems = (section: Section | undefined, tables: FileTables): readonly string[] =>
  (section === undefined ? [] : choicesOf(section)).flatMap(({ named, serviceCode, choice }, index, all) => {
    const isFirst = all.findIndex((other) => other.serviceCode === serviceCode) === index;
    const isCode = /^\d{6}$/.test(serviceCode);
    if (!isCode) return [`ibs_cbs.${named} is neither a field of ibs_cbs nor a service code of 6 digits`];
    const { ind_op: indOp, class_trib: classTrib, class_trib_regular: classTribRegular } = choice;
    return [
      ...problemsIf([
        [!tables.isServiceCode(serviceCode), 'no service of the national list has this code'],
        [!isFirst, 'names a service that is there already'],
        [indOp === undefined && classTrib === undefined, 'must have ind_op or class_trib'],
      ]),
      ...choiceFaults({ indOp, classTrib, classTribRegular }, tables.classification),
    ].map((problem) => `ibs_cbs.${named}: ${problem}`);
  });

export const ibsCbsOf = (section: Section | undefined): IbsCbsOfCompany | undefined =>
  section &&
  present({
    declare: section.declare,
    exportClassTrib: section.export_class_trib,
    services: choicesOf(section).map(({ serviceCode, choice: { ind_op, class_trib, class_trib_regular } }) =>
      present({ serviceCode, indOp: ind_op, classTrib: class_trib, classTribRegular: class_trib_regular }),
    ),
  });
