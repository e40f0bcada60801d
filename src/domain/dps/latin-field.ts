import { type Canonical, field } from '../shared/canonical-xml.js';
import { transliterate } from './transliterate.js';

/** A field of the layout's Latin-1 type. Throws for text without a Latin form, which acceptance has already refused (reading 4). */
export const latinField = (name: string, value: string): Canonical => {
  const latin = transliterate(value);
  if (latin === undefined) throw new Error(`the text of ${name} has no Latin form`);
  return field(name, latin);
};
