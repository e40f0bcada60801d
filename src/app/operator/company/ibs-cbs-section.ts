import * as v from 'valibot';
import type { Classifications } from '../../../domain/common/classification.js';
import { present } from '../../../domain/common/present.js';
import type { IbsCbsOfCompany } from '../../../domain/company/events.js';
import { EXPORT_CLASSIFICATIONS } from '../../../domain/company/ibs-cbs.js';
import { choiceFaults } from '../../../domain/company/ibs-cbs-operations.js';
import { coded, explained, problemsIf, shaped } from '../file-text.js';

const sixDigits = shaped(/^\d{6}$/, 'must be 6 digits');

const serviceCode = coded('must be 6 digits', 'serviceCode');

/** `ibs_cbs` of a company file. */
export const ibsCbsSection = v.strictObject({
  declare: v.optional(
    explained(v.boolean('must be true or false'), 'whether notes declare IBS and CBS before they have to', true),
    true,
  ),
  export_class_trib: v.optional(
    explained(
      v.picklist(EXPORT_CLASSIFICATIONS, `must be ${EXPORT_CLASSIFICATIONS.join(' or ')}`),
      'tax classification (cClassTrib) of exports',
      EXPORT_CLASSIFICATIONS[0],
    ),
  ),
  services: v.optional(
    v.array(
      v.strictObject({
        service_code: explained(serviceCode, 'national service code, with or without mask', '010101'),
        ind_op: v.optional(explained(sixDigits, 'operation indicator (cIndOp), 6 digits', '100301')),
        class_trib: v.optional(explained(sixDigits, 'tax classification (cClassTrib), 6 digits', '000001')),
        class_trib_regular: v.optional(
          explained(
            sixDigits,
            'classification that would hold without the benefit, 6 digits; only for a class_trib that asks for it',
          ),
        ),
      }),
    ),
    [],
  ),
});

type Section = v.InferOutput<typeof ibsCbsSection>;

export type CompanyFileTables = { isServiceCode(code: string): boolean; classification: Classifications };

/** What the tables say against the choices for each service; the place in the list counts from 0, as in the other problems of a company file. */
export const ibsCbsProblems = (section: Section | undefined, tables: CompanyFileTables): readonly string[] =>
  (section?.services ?? []).flatMap(({ service_code, ...choice }, index, all) => {
    const { ind_op: indOp, class_trib: classTrib, class_trib_regular: classTribRegular } = choice;
    const isFirst = all.findIndex((other) => other.service_code === service_code) === index;
    return [
      ...problemsIf([
        [!tables.isServiceCode(service_code), `service_code ${service_code} is not in the national list`],
        [!isFirst, `service_code ${service_code} is there twice`],
        [indOp === undefined && classTrib === undefined, 'must have ind_op or class_trib'],
      ]),
      ...choiceFaults({ indOp, classTrib, classTribRegular }, tables.classification),
    ].map((problem) => `ibs_cbs.services.${index}: ${problem}`);
  });

export const ibsCbsOf = (section: Section | undefined): IbsCbsOfCompany | undefined =>
  section &&
  present({
    declare: section.declare,
    exportClassTrib: section.export_class_trib,
    services: section.services.map(({ service_code, ind_op, class_trib, class_trib_regular }) =>
      present({
        serviceCode: service_code,
        indOp: ind_op,
        classTrib: class_trib,
        classTribRegular: class_trib_regular,
      }),
    ),
  });
