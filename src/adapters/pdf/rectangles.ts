import type { PageItem } from './pdfmake-parts.js';

/**
 * The same items, with neighbouring filled rectangles of one colour as a single shape: a QR code is some thousand of
 * them, and drawn one by one they would be half of the work and leave hairlines between its modules.
 */
export const joinRectangles = (items: readonly PageItem[]): readonly PageItem[] => {
  const joined: PageItem[] = [];
  let run: Rectangle[] = [];
  const endRun = () => {
    const [first] = run;
    if (first !== undefined) {
      joined.push({ type: 'vector', item: { type: 'path', d: run.map(pathOf).join(''), color: first.color } });
    }
    run = [];
  };
  for (const item of items) {
    const next = filledRectangle(item);
    const last = run.at(-1);
    if (next === undefined || last?.color !== next.color) endRun();
    if (next === undefined) joined.push(item);
    else if (run.length > 0 && last !== undefined && isRightOf(next, last)) last.w += next.w;
    else run.push(next);
  }
  endRun();
  return joined;
};

type Rectangle = { x: number; y: number; w: number; h: number; color: string };

const isRightOf = (next: Rectangle, last: Rectangle): boolean =>
  next.y === last.y && next.h === last.h && next.x === last.x + last.w;

const pathOf = ({ x, y, w, h }: Rectangle): string => `M${x},${y}h${w}v${h}h-${w}z`;

const filledRectangle = ({ type, item }: PageItem): Rectangle | undefined => {
  if (type !== 'vector') return undefined;
  const shape = item as Readonly<Record<string, unknown>>;
  const { x, y, w, h, color } = shape;
  if (shape.type !== 'rect' || UNLIKE_A_PLAIN_ONE.some((name) => shape[name] !== undefined)) return undefined;
  if (typeof x !== 'number' || typeof y !== 'number' || typeof w !== 'number' || typeof h !== 'number')
    return undefined;
  return typeof color === 'string' ? { x, y, w, h, color } : undefined;
};

const UNLIKE_A_PLAIN_ONE = ['r', 'lineColor', 'linearGradient', 'fillOpacity', 'strokeOpacity', 'dash'];
