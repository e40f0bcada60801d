const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** The two largest units: `3 d 4 h`. */
export const ageText = (seconds: number): string => {
  let left = Math.max(0, Math.floor(seconds));
  const parts = UNITS.flatMap(([size, name]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return parts.length === 0 ? '0 s' : parts.slice(0, 2).join(' ');
};
