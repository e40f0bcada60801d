import { expect, it } from 'vitest';

/** An API that is asked many times at once; `index` lets it spread the requests over its processes. */
export type Crowded = {
  post(index: number, body: object, idempotencyKey?: string): Promise<Response>;
  /** Public ids of all invoices of this amount in the log. */
  accepted(amountInCents: number): Promise<readonly string[]>;
};

export type PostAnswer = {
  status: number;
  retryAfter: string | null;
  body: { id?: string; error?: { code: string; message: string; retryable: boolean } };
};

export const CROWD = 100;

export const postAnswerOf = async (response: Response): Promise<PostAnswer> => ({
  status: response.status,
  retryAfter: response.headers.get('retry-after'),
  body: (await response.json()) as PostAnswer['body'],
});

const inParallel = (post: (index: number) => Promise<Response>): Promise<readonly PostAnswer[]> =>
  Promise.all(Array.from({ length: CROWD }, async (_, index) => postAnswerOf(await post(index))));

const acceptedOf = (answers: readonly PostAnswer[]) => answers.filter(({ status }) => status === 202);

const idsOf = (answers: readonly PostAnswer[]): readonly string[] => [
  ...new Set(acceptedOf(answers).map(({ body }) => body.id ?? '')),
];

/** The id that all accepted answers share. */
const onlyIdOf = (answers: readonly PostAnswer[]): string => {
  const ids = idsOf(answers);
  expect(ids, JSON.stringify(answers.slice(0, 3))).toHaveLength(1);
  return ids[0] ?? '';
};

/** Everything that was not accepted is a 409 with one of these codes, as the catalogue has it; `id` holds the reference. */
const expectRefusals = (answers: readonly PostAnswer[], codes: readonly string[], id = ''): void => {
  for (const { status, retryAfter, body } of answers.filter((answer) => answer.status !== 202)) {
    const { code = '', message = '', retryable } = body.error ?? {};
    const inUse = code === 'idempotency_key_in_use';
    expect({ status, retryable }, code).toEqual({ status: 409, retryable: inUse });
    expect(codes).toContain(code);
    if (inUse) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    else expect(retryAfter).toBeNull();
    if (code === 'nfse.reference_in_use') expect(message).toContain(id);
  }
};

/** Suite: a hundred parallel requests leave the same invoices as the same requests one after the other (IDEM-1 to IDEM-6). */
export const parallelPosts = (open: () => Crowded): void => {
  const bodyOf = (amountInCents: number, reference?: string) => ({
    amount_in_cents: amountInCents,
    description: 'Cem de uma vez',
    ...(reference === undefined ? {} : { reference }),
  });

  it('with one key and one body give one invoice; the key in use may be repeated, and then shows it', async () => {
    const { post, accepted } = open();
    const again = (index: number) => post(index, bodyOf(20_001), 'crowd-1');
    const answers = await inParallel(again);
    const id = onlyIdOf(answers);
    expectRefusals(answers, ['idempotency_key_in_use']);
    expect(await accepted(20_001)).toEqual([id]);
    for (const index of [0, 1]) {
      expect(await postAnswerOf(await again(index))).toMatchObject({ status: 202, body: { id } });
    }
    expect(await accepted(20_001)).toEqual([id]);
  });

  it('with one reference and no key give one invoice, which the others are told of', async () => {
    const { post, accepted } = open();
    const answers = await inParallel((index) => post(index, bodyOf(20_002, 'crowd-2')));
    const id = onlyIdOf(answers);
    expect(acceptedOf(answers)).toHaveLength(1);
    expectRefusals(answers, ['nfse.reference_in_use', 'duplicate_suspected'], id);
    expect(await accepted(20_002)).toEqual([id]);
  });

  it('with one reference and a key each give one invoice, and only its own key shows it again', async () => {
    const { post, accepted } = open();
    const ask = (index: number) => post(index, bodyOf(20_003, 'crowd-3'), `crowd-3-${index}`);
    const answers = await inParallel(ask);
    const id = onlyIdOf(answers);
    expect(acceptedOf(answers)).toHaveLength(1);
    expectRefusals(answers, ['nfse.reference_in_use'], id);
    const repeated = await inParallel(ask);
    expect(repeated.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
    expect(onlyIdOf(repeated)).toBe(id);
    expect(await accepted(20_003)).toEqual([id]);
  });

  it('with neither give one invoice; the others are suspected duplicates', async () => {
    const { post, accepted } = open();
    const answers = await inParallel((index) => post(index, bodyOf(20_004)));
    const id = onlyIdOf(answers);
    expect(acceptedOf(answers)).toHaveLength(1);
    expectRefusals(answers, ['duplicate_suspected']);
    expect(await accepted(20_004)).toEqual([id]);
  });

  it('with a key each and the same body give a hundred invoices', async () => {
    const { post, accepted } = open();
    const answers = await inParallel((index) => post(index, bodyOf(20_005), `crowd-5-${index}`));
    expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    expect(new Set(await accepted(20_005))).toEqual(new Set(idsOf(answers)));
    expect(await accepted(20_005)).toHaveLength(CROWD);
  });

  it('with one key and two bodies give one invoice; the other body is reuse, never in use', async () => {
    const { post, accepted } = open();
    // Halved, so that each of two processes gets both bodies.
    const amountOf = (index: number) => 20_006 + (Math.floor(index / 2) % 2);
    const answers = await inParallel((index) => post(index, bodyOf(amountOf(index)), 'crowd-6'));
    const id = onlyIdOf(answers);
    const winner = amountOf(answers.findIndex(({ status }) => status === 202));
    const isOfWinner = (_: PostAnswer, index: number) => amountOf(index) === winner;
    expectRefusals(answers.filter(isOfWinner), ['idempotency_key_in_use']);
    const others = answers.filter((answer, index) => !isOfWinner(answer, index));
    expect(acceptedOf(others)).toEqual([]);
    expectRefusals(others, ['idempotency_key_reuse']);
    expect([...(await accepted(20_006)), ...(await accepted(20_007))]).toEqual([id]);
  });
};
