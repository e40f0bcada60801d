import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in a time that does not depend on where the texts differ. */
export const sameSecret = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
};
