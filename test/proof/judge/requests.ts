import type { Finding } from './finding.js';
import type { Exchange, Raw } from './raw.js';
import type { Story } from './story.js';

type Fields = Readonly<Record<string, unknown>>;

/** True for an answer that promises an invoice. */
export const isPromise = ({ method, path, status }: Exchange): boolean =>
  method === 'POST' && path === '/v1/nfse' && status === 202;

/** Fields of a request that every answer about its invoice repeats as they were sent. */
const REPEATED = ['amount_in_cents', 'description', 'reference'] as const;
const REPEATED_OF_CUSTOMER = ['document', 'name'] as const;

const customerOf = (body: Fields): Fields => (body.customer ?? {}) as Fields;

/** Name of the first field in which the invoice of an answer is not the invoice that the request describes. */
const differenceOf = (request: Fields, answer: Fields): string | undefined =>
  REPEATED.find((field) => request[field] !== answer[field]) ??
  REPEATED_OF_CUSTOMER.find((field) => customerOf(request)[field] !== customerOf(answer)[field]);

/** Each 202 shows the invoice that its request describes, and the log has recorded the same amount. */
export const judgeRequests = ({ http }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const known = new Map(stories.map((story) => [story.id, story]));
  return http.filter(isPromise).flatMap(({ body = {}, answer = {}, ended }): readonly Finding[] => {
    const other = (detail: string): readonly Finding[] => [
      { name: 'other_request_answered', detail: `${String(answer.id)} ${detail}`, evidence: `answer of ${ended}` },
    ];
    const field = differenceOf(body, answer);
    if (field !== undefined) return other(`was answered with another ${field} than its request has`);
    const recorded = known.get(String(answer.id))?.amountInCents;
    if (recorded !== undefined && recorded !== body.amount_in_cents)
      return other(`is recorded with ${recorded} cents, and its request has ${String(body.amount_in_cents)}`);
    return [];
  });
};

/** Every promise holds for a service that accepts nothing, so a run without a promise or without a note proves nothing. */
export const judgeWork = ({ http, ledger }: Raw): readonly Finding[] => {
  if (!http.some(isPromise))
    return [
      { name: 'nothing_accepted', detail: `none of ${http.length} requests was accepted`, evidence: 'http.ndjson' },
    ];
  if (ledger.length === 0)
    return [{ name: 'nothing_issued', detail: 'the authorizer holds no note', evidence: 'ledger.json' }];
  return [];
};
