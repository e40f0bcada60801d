import * as v from 'valibot';
import type { Customer } from '../../domain/invoice/facts.js';
import { parseInvoiceId } from '../../domain/shared/ids.js';
import { instantOfStamp } from '../../domain/shared/time.js';

const MAX_DESCRIPTION = 10_000;

/** NUL and lone surrogates have no place in any engine; the rest of an old text stays exactly as it was. */
const UNSTORABLE = /[\0\p{Cs}]/u;

const text = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => !UNSTORABLE.test(value), 'holds a character that cannot be stored'),
  );

const shaped = (pattern: RegExp, message: string) => v.pipe(v.string('must be a text'), v.regex(pattern, message));

const oneOf = <const T extends readonly string[]>(options: T) =>
  v.picklist(options, `must be one of ${options.join(', ')}`);

const cents = v.pipe(
  v.number('must be a number'),
  v.safeInteger('must be whole cents'),
  v.minValue(1, 'must be 1 or more'),
);

const STAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

const moment = v.pipe(
  shaped(STAMP, 'must be an ISO 8601 instant with its zone'),
  v.check((value) => instantOfStamp(value) !== undefined, 'is no instant of the years 2000 to 2199'),
  v.transform((value) => instantOfStamp(value) ?? value),
);

const day = v.pipe(
  shaped(/^\d{4}-\d{2}-\d{2}$/, 'must be a date YYYY-MM-DD'),
  v.check((value) => new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) === true, 'is no date'),
);

const accessKey = shaped(/^\d{9}[0-9A-Z]{14}\d{27}$/, 'must be the 50 characters of an access key');

/** As the find route takes it: what is longer or has white space could never be found again. */
const reference = shaped(/^[^\s\p{Cc}\p{Cs}]{1,64}$/u, 'must be 1 to 64 characters without white space');

const customer = v.strictObject({
  type: v.optional(oneOf(['br', 'foreign']), 'br'),
  document: v.optional(shaped(/^(\d{11}|[0-9A-Z]{12}\d{2})$/, 'must be a CPF or CNPJ without a mask')),
  name: v.optional(text(300)),
  tax_id: v.optional(text(40)),
  tax_id_absence_reason: v.optional(oneOf(['exempt', 'not_required'])),
  address: v.optional(
    v.strictObject({
      ...{ street: text(255), number: text(60), district: text(60), city: text(60), state: text(60) },
      ...{ postal_code: text(11), country: shaped(/^[A-Z]{2}$/, 'must be two capital letters') },
    }),
  ),
});

/** One line of the file (operator interface, "invoice import"), instants in UTC, id bare. */
const importLine = v.pipe(
  v.strictObject({
    cnpj: shaped(/^[0-9A-Z]{12}\d{2}$/, 'must be the 14 characters of the CNPJ, without a mask'),
    mode: oneOf(['test', 'live']),
    origin: oneOf(['legacy', 'web', 'manual']),
    state: oneOf(['issued', 'canceled', 'replaced']),
    id: v.optional(
      v.pipe(
        v.string('must be a text'),
        v.check((id) => parseInvoiceId(id) !== undefined, 'must be nfse_ and a UUID'),
        v.transform((id) => parseInvoiceId(id) ?? id),
      ),
    ),
    amount_in_cents: cents,
    description: v.optional(text(MAX_DESCRIPTION)),
    competence: v.optional(day),
    customer: v.optional(customer),
    foreign_amount: v.optional(
      v.strictObject({ currency: shaped(/^[A-Z]{3}$/, 'must be three capital letters'), amount_in_cents: cents }),
    ),
    reference: v.optional(reference),
    service_code: v.optional(shaped(/^\d{6}$/, 'must be 6 digits')),
    cnae: v.optional(shaped(/^\d{7}$/, 'must be 7 digits')),
    access_key: v.optional(accessKey),
    created_at: v.optional(moment),
    issued_at: v.optional(moment),
    canceled_at: v.optional(moment),
    replaced_by: v.optional(text(60)),
    xml_file: v.optional(text(1_000)),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed) for (const message of contradictions(dataset.value)) addIssue({ message });
  }),
);

export type ImportLine = v.InferOutput<typeof importLine>;

type Parsed = { line: ImportLine } | { problems: readonly string[] };

/** Every problem is one sentence that begins with the field's name; no value is ever quoted. */
export const parseImportLine = (text: string): Parsed => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problems: ['is not JSON'] };
  }
  const parsed = v.safeParse(importLine, json);
  if (parsed.success) return { line: parsed.output };
  return { problems: parsed.issues.map((issue) => `${v.getDotPath(issue) ?? ''} ${plain(issue)}`.trim()) };
};

const plain = (issue: { expected: string | null; received: string; message: string }): string => {
  if (issue.expected === 'never') return 'is not a known field';
  if (issue.received === 'undefined') return 'is missing';
  return issue.message.startsWith('Invalid') ? 'must be a JSON object' : issue.message;
};

const contradictions = ({
  state,
  canceled_at,
  replaced_by,
  customer: sent,
}: ContradictionFields): readonly string[] => [
  ...(canceled_at !== undefined && state !== 'canceled' ? ['canceled_at goes with the state canceled only'] : []),
  ...(replaced_by !== undefined && state !== 'replaced' ? ['replaced_by goes with the state replaced only'] : []),
  ...(sent?.type === 'foreign' && sent.address === undefined ? ['customer.address is missing'] : []),
  ...(sent?.type === 'foreign' && sent.document !== undefined ? ['customer.document is not for foreign ones'] : []),
  ...(sent?.type === 'br' && (sent.tax_id ?? sent.tax_id_absence_reason ?? sent.address) !== undefined
    ? ['customer.tax_id and customer.address are for foreign ones only']
    : []),
];

type ContradictionFields = {
  state: string;
  canceled_at?: string | undefined;
  replaced_by?: string | undefined;
  customer?: v.InferOutput<typeof customer> | undefined;
};

/** An empty customer is none. */
export const customerOf = ({ customer: sent }: ImportLine): Customer | undefined => {
  if (sent === undefined) return undefined;
  const { document, name, tax_id: taxId, tax_id_absence_reason: taxIdAbsenceReason, address } = sent;
  if (sent.type === 'foreign' && address !== undefined) {
    const { postal_code: postalCode, ...rest } = address;
    return {
      type: 'foreign',
      ...(name === undefined ? {} : { name }),
      ...(taxId === undefined ? {} : { taxId }),
      ...(taxIdAbsenceReason === undefined ? {} : { taxIdAbsenceReason }),
      address: { ...rest, postalCode },
    };
  }
  if (document === undefined && name === undefined) return undefined;
  return { type: 'br', ...(document === undefined ? {} : { document }), ...(name === undefined ? {} : { name }) };
};
