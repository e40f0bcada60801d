import { countJson } from './json-bounds.js';

/** One error item of the authorizer; `code` is missing when the item is not of a known shape. */
export type AuthorizerError = { code?: string; text: string };

/** A JSON object with its keys in lower case: the live servers mix PascalCase and camelCase (openapi deviation 1). */
export type JsonBody = { readonly [lowerCaseKey: string]: unknown };

/**
 * The object that a JSON answer holds. Undefined for problem+json, for HTML also when its text is JSON, for other JSON, for more
 * than `JSON_BOUNDS`, for an object with two members of one name, and for anything unreadable.
 */
export const readJson = (contentType: string, body: Buffer): JsonBody | undefined => {
  if (/problem\+json|html/.test(contentType)) return undefined;
  const { exceeds, repeats } = countJson(body);
  if (exceeds !== undefined || repeats) return undefined;
  try {
    // A decoder and not `toString`: it drops the byte order mark that some servers write.
    return objectOf(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return undefined;
  }
};

/** Items of `erros` and `erro`, each an array or a single object, whatever the casing (deviations 1 to 3). */
export const errorsOf = (body: JsonBody): readonly AuthorizerError[] =>
  [body.erros, body.erro].flatMap((value) => listOf(value)).map(errorOf);

export const textOf = (body: JsonBody, key: string): string | undefined => {
  const value = body[key.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/**
 * The packed cancellation event: `eventos[].arquivoXml` where the look-up really answers, `eventoXmlGZipB64` as its
 * Swagger promises (deviation 9).
 */
export const packedEventOf = (body: JsonBody, eventType: string): string | undefined => {
  const item = listOf(body.eventos)
    .map(objectOf)
    .find((entry) => String(entry?.tipoevento) === eventType);
  return (item === undefined ? undefined : textOf(item, 'arquivoXml')) ?? textOf(body, 'eventoXmlGZipB64');
};

/** Raw wording is kept for support, within bounds: an event of the log is small. */
const MAX_TEXT = 1000;

const errorOf = (item: unknown): AuthorizerError => {
  const error = objectOf(item) ?? {};
  const code = textOf(error, 'codigo')?.trim();
  const words = [textOf(error, 'descricao') ?? textOf(error, 'mensagem'), textOf(error, 'complemento')];
  const text = words
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, MAX_TEXT);
  return code === undefined || code.length > MAX_CODE ? { text } : { code: code.toUpperCase(), text };
};

const MAX_CODE = 20;

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Undefined for what is no object. Members that differ in casing alone become one list: none of them may hide another. */
export const objectOf = (value: unknown): JsonBody | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  for (const [name, inner] of Object.entries(value)) {
    const key = name.toLowerCase();
    if (!members.has(key)) members.set(key, inner);
    else {
      const list = lists.get(key) ?? [...listOf(members.get(key))];
      for (const one of listOf(inner)) list.push(one);
      lists.set(key, list);
      members.set(key, list);
    }
  }
  return Object.fromEntries(members);
};
