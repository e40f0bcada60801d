import * as v from 'valibot';
import { text } from './text.js';

/** What each reason means, in requests and in answers. */
export const CANCEL_REASONS = {
  issuance_error: 'Erro na emissão.',
  service_not_provided: 'Serviço não prestado.',
  other: 'Outro motivo.',
} as const;

/** The body of `POST /v1/nfse/{id}/cancel`; `{}` is enough. */
export const cancelBody = v.strictObject({
  reason: v.optional(
    v.pipe(
      v.picklist(
        ['issuance_error', 'service_not_provided', 'other'],
        'reason deve ser issuance_error, service_not_provided ou other.',
      ),
      v.description('Motivo; other quando não vem.'),
      v.metadata({ meanings: CANCEL_REASONS }),
    ),
  ),
  description: v.optional(
    text(
      'description',
      { min: 15, max: 255, latin: true },
      'Justificativa do cancelamento. Sem ela vai uma justificativa padrão.',
    ),
  ),
});

export type CancelBody = v.InferOutput<typeof cancelBody>;
