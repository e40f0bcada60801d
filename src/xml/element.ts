/** The writer lives in the domain, which builds the DPS and may import nothing else; here it is for everyone beyond. */
export {
  type Attributes,
  type Canonical,
  type Child,
  element,
  elementWith,
  field,
  isXmlText,
  text,
} from '../domain/shared/canonical-xml.js';
