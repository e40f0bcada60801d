import { present } from '../../domain/common/present.js';
import type { Json, JsonObject } from './answer.js';

/** An observed way to write an answer that differs from the usual way (docs/national-system.md#deviations). */
type Variant = (body: JsonObject) => JsonObject;

type Item = { code: Json; message: Json; complement: Json | undefined };

/** The body in variant `n`, modulo the number of variants. */
export const variantOf = (body: JsonObject, n: number): JsonObject => {
  const variant = VARIANTS[n % VARIANTS.length];
  return variant === undefined ? body : variant(body);
};

const camelCase = ({ code, message, complement }: Item): JsonObject =>
  present({ codigo: code, descricao: message, complemento: complement });

const pascalCase = ({ code, message, complement }: Item): JsonObject => ({
  Codigo: code,
  Descricao: message,
  Complemento: complement ?? null,
  Parametros: null,
});

/** Older codes of the same faults (docs/national-system.md#two-codes-for-one-fault). */
const OLD_CODES: Readonly<Record<string, Partial<Item>>> = {
  E1235: { code: 'RNG6110', message: 'Falha Schema Xml' },
  E1229: { code: 'E6154' },
  E1228: { code: 'E6155' },
};

const oldCode = (item: Item): Item => ({ ...item, ...OLD_CODES[String(item.code)] });

const VARIANTS: readonly Variant[] = [
  (body) =>
    withErrors(body, (items) => ({ erros: items.map((item) => ({ ...camelCase(item), mensagem: item.message })) })),
  (body) => withErrors(body, (items) => ({ erro: items.map(camelCase) })),
  (body) => withErrors(body, (items) => ({ erro: camelCase(items[0] ?? NO_ITEM) })),
  (body) => withErrors(body, (items) => ({ erros: items.map((item) => pascalCase(oldCode(item))) })),
  (body) => ({ ...body, ...('alertas' in body && { alertas: [] }), ...sixDigits(body) }),
  (body) => ({ ...body, ...('eventos' in body && { eventos: withTextTypes(body.eventos ?? null) }) }),
];

const NO_ITEM: Item = { code: 'RNG9999', message: null, complement: undefined };

const withErrors = (body: JsonObject, write: (items: readonly Item[]) => JsonObject): JsonObject => {
  const items = errorsOf(body);
  if (items.length === 0) return body;
  const { erro: _, erros: __, ...rest } = body;
  return { ...rest, ...write(items) };
};

export const errorsOf = (body: JsonObject): readonly Item[] => {
  const errors = body.erros ?? body.erro;
  if (errors === undefined || errors === null) return [];
  return (isList(errors) ? errors : [errors]).filter(isObject).map((error) => ({
    code: error.Codigo ?? error.codigo ?? null,
    message: error.Descricao ?? error.descricao ?? null,
    complement: error.Complemento ?? error.complemento,
  }));
};

const sixDigits = ({ dataHoraProcessamento }: JsonObject): JsonObject =>
  typeof dataHoraProcessamento === 'string'
    ? { dataHoraProcessamento: dataHoraProcessamento.replace(/(\.\d{6})\d/, '$1') }
    : {};

const withTextTypes = (events: Json): Json =>
  isList(events)
    ? events.map((event) => (isObject(event) ? { ...event, tipoEvento: String(event.tipoEvento) } : event))
    : events;

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !isList(value);
