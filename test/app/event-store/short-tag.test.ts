import { createCipheriv } from 'node:crypto';
import { expect, it } from 'vitest';
import { openField } from '../../../src/app/event-store/sealing.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';

const place = {
  stream: invoiceStream('live', '12345678000195', '11111111-1111-4111-8111-111111111111'),
  eventId: '22222222-2222-4222-8222-222222222222',
  field: 'description',
};
const key = Buffer.alloc(32, 7);
const iv = Buffer.alloc(12, 1);

it.each([4, 8, 12, 15])('a sealed field whose tag has %i bytes is refused for that, whatever the tag is', (bytes) => {
  // A correct beginning of the tag must not be enough: a short tag can be guessed.
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(
    Buffer.from(JSON.stringify([place.stream, place.eventId, place.field])),
  );
  cipher.final();
  const sealed = cipher.getAuthTag().subarray(0, bytes).toString('base64url');
  const text = `sealed:1:m1:${place.eventId}:${iv.toString('base64url')}:${sealed}`;
  expect(() => openField(text, place, key)).toThrow(/tag/i);
});
