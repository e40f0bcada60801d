import type { World } from '../environment.js';
import { BLOCKABLE, EVENT_TYPES, storedType } from '../event/kinds.js';
import { linkForeignEvent } from '../event/link.js';
import { BadInput, members, oneOf, textLike } from './input.js';
import { CNPJ, MODES } from './read-fault.js';

/** `POST /_control/events`: an event of somebody else on a note that exists, durable when it resolves. Throws `BadInput`. */
export const linkEvent = async (world: World, body: unknown): Promise<void> => {
  const fields = members(body);
  const { ledger, ...environment } = world.environments[fields.required('environment', oneOf(MODES))];
  const accessKey = fields.required('access_key', textLike(/^[0-9A-Z]{50}$/, 'an access key of 50 characters'));
  const type = fields.required('type', oneOf(EVENT_TYPES));
  const about = fields.optional('about', oneOf(BLOCKABLE));
  const author = fields.optional('author', CNPJ);
  fields.done();
  const isBlock = type === '305102' || type === '305103';
  if (isBlock !== (about !== undefined)) throw new BadInput('about', 'goes with 305102 and 305103, and only with them');
  const note = ledger.noteByKey(accessKey);
  if (note === undefined) throw new BadInput('access_key', 'is of no note in this environment');
  if (ledger.event(accessKey, storedType(type, about)) !== undefined)
    throw new BadInput('type', 'is on the note already');
  linkForeignEvent(world, { ledger, ...environment }, note, { type, about, author: author ?? note.cnpj });
  await ledger.durable();
};
