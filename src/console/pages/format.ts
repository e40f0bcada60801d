import { epochMs, type Instant } from '../../domain/shared/time.js';
import { type Html, html } from './html.js';

/** `2026-11-21 12:00:05 UTC`; support compares it with other logs, so it is never local time. */
export const timeOf = (at: Instant | undefined): Html =>
  at === undefined || at === ''
    ? html`–`
    : html`<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time>`;

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

export const secondsBetween = (from: Instant, to: Instant): number => (epochMs(to) - epochMs(from)) / 1000;

/** `R$ 1.250,50`. */
export const reais = (cents: number): string =>
  `R$ ${Math.floor(cents / 100)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, '.')},${String(cents % 100).padStart(2, '0')}`;

export type Tone = 'good' | 'bad' | 'wait' | 'plain';

/** The word says it; the tone only repeats it in colour. */
export const badge = (word: string, tone: Tone): Html => html`<span class="badge ${tone}">${word}</span>`;

const TONES: Readonly<Record<string, Tone>> = {
  issued: 'good',
  failed: 'bad',
  indeterminate: 'bad',
  queued: 'wait',
  processing: 'wait',
};

export const statusBadge = (status: string): Html => badge(status, TONES[status] ?? 'plain');
