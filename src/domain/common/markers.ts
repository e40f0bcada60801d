import { brasiliaWallClock, type Instant } from './time.js';

const MONTHS = 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' ');

/** Replaces the six markers by the Brasília date of receipt; any other `{{...}}` stays (POST-description). */
export const expandMarkers = (text: string, receivedAt: Instant): string => {
  if (!text.includes('{{')) return text;
  const { year, month, day } = brasiliaWallClock(receivedAt);
  const previous = month === 1 ? 12 : month - 1;
  const values: Record<string, string> = {
    data: `${two(day)}/${two(month)}/${year}`,
    mes: two(month),
    mes_extenso: monthName(month),
    mes_anterior: two(previous),
    mes_anterior_extenso: monthName(previous),
    ano: String(year),
  };
  return text.replace(MARKER, (_marker, name: string) => values[name] ?? '');
};

const MARKER = /\{\{(data|mes|mes_extenso|mes_anterior|mes_anterior_extenso|ano)\}\}/g;

const two = (n: number): string => String(n).padStart(2, '0');

const monthName = (month: number): string => MONTHS[month - 1] ?? '';
