import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import type { StreamName } from '../../domain/common/ids.js';
import { type Json, MAX_EVENT_BYTES } from '../../ports/event-log.js';
import { SealedTextChanged, type SealingKey } from '../../ports/sealing-keys.js';

/** What a sealed field is bound to; its text opens only with the same stream, event and field (docs/architecture.md#sealing-and-hash-chain). */
type FieldBinding = { stream: StreamName; eventId: string; field: string };

const PREFIX = 'sealed:1:';
const TAG_BYTES = 16;

export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(PREFIX);

/** `sealed:1:<key generation>:<event id>:<iv>:<ciphertext and tag>`, AES-256-GCM over the field's JSON. */
export const sealField = (value: Json, binding: FieldBinding, { generation, key }: SealingKey): string => {
  const iv = nextIv();
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(aad(binding));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${PREFIX}${generation}:${binding.eventId}:${iv.toString('base64url')}:${sealed.toString('base64url')}`;
};

/** Room in an event for its metadata and for all fields but its largest one. */
const OTHER_FIELDS_BYTES = 64 * 1024;

/** Whether an event can hold this base64 as its largest sealed field. Sealing encodes the base64 in base64 once more. */
export const fitsIntoEvent = (base64: string): boolean =>
  Math.ceil((base64.length * 4) / 3) + OTHER_FIELDS_BYTES <= MAX_EVENT_BYTES;

/** Most bytes of a sealed field besides its value: prefix, generation, event id, initialisation vector and tag. */
const SEAL_BYTES = 128;

/** Room in an event for its metadata. */
const METADATA_BYTES = 8 * 1024;

/** Whether an event can hold all of these fields, of which it seals those that are named. */
export const fitTogether = (data: object, sealed: readonly string[]): boolean => {
  const sizes = Object.entries(data).map(([name, value]) => {
    const plain = Buffer.byteLength(JSON.stringify({ [name]: value }));
    return sealed.includes(name) ? Math.ceil((plain * 4) / 3) + SEAL_BYTES : plain;
  });
  return sizes.reduce((sum, size) => sum + size, METADATA_BYTES) <= MAX_EVENT_BYTES;
};

const IV_BYTES = 12;

/** Random bytes for many fields at once, because the call costs more than the bytes. Each is used once. */
const stock = Buffer.alloc(256 * IV_BYTES);
let used = stock.length;

const nextIv = (): Buffer => {
  if (used === stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  used += IV_BYTES;
  return Buffer.from(stock.subarray(used - IV_BYTES, used));
};

/** Key generation and event id are readable without a key, so that a sealed field can be opened away from its event. */
export const sealedWith = (text: string): { generation: string; eventId: string } | undefined => {
  const [generation, eventId] = text.slice(PREFIX.length).split(':', 2);
  return generation === undefined || eventId === undefined ? undefined : { generation, eventId };
};

/** Throws `SealedTextChanged` when the text was changed, or when it was sealed for another stream, event or field. */
export const openField = (text: string, binding: FieldBinding, key: Buffer): Json => {
  const [, eventId, iv, sealed] = text.slice(PREFIX.length).split(':');
  if (eventId !== binding.eventId || iv === undefined || sealed === undefined)
    throw new SealedTextChanged('it is not of this event');
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < TAG_BYTES) throw new SealedTextChanged('its tag is too short');
  return JSON.parse(decipher(bytes, Buffer.from(iv, 'base64url'), binding, key).toString('utf8')) as Json;
};

const decipher = (bytes: Buffer, iv: Buffer, binding: FieldBinding, key: Buffer): Buffer => {
  try {
    const open = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
      .setAAD(aad(binding))
      .setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    return Buffer.concat([open.update(bytes.subarray(0, bytes.length - TAG_BYTES)), open.final()]);
  } catch {
    throw new SealedTextChanged('it was changed, or sealed for another field or stream');
  }
};

const aad = ({ stream, eventId, field }: FieldBinding): Buffer => Buffer.from(JSON.stringify([stream, eventId, field]));
