import type { Resolution, Send } from './state.js';

/** The first answer to the send itself; later ones add their codes. */
export const answered =
  (resolution: Resolution, answer: { at: string; codes: readonly string[] }) =>
  <S extends Send>(send: S): S => ({
    ...send,
    resolution,
    answeredAt: send.answeredAt ?? answer.at,
    resolvedAt: answer.at,
    codes: [...send.codes, ...answer.codes],
  });

/** What became of the send, learnt otherwise than by its answer. */
export const resolved =
  (resolution: Resolution, at: string) =>
  <S extends Send>(send: S): S => ({ ...send, resolution, resolvedAt: at });
