import { sha256Hex } from '../../app/event-store/hashes.js';
import { createKey, revokeKey } from '../../app/operator/company/company-commands.js';
import type { Instant } from '../../domain/common/time.js';
import { apiKeysIn, modeOfApiKey } from '../../domain/company/company.js';
import type { Scope } from '../../domain/company/events.js';
import { answer, badUsage, type Command, done, refused, textFlag, textFlags, unknownCompany } from '../command.js';
import { tellRowsBehind } from '../rows-behind.js';
import { typedText } from '../terminal.js';

const SCOPES: readonly Scope[] = ['nfse:read', 'nfse:write'];

const create: Command = {
  name: 'key create',
  positionals: ['CNPJ'],
  summary: 'make an API key; it is shown once',
  options: {
    mode: { value: 'live|test', help: 'test or live', required: true },
    scope: { value: 'SCOPE', multiple: true, help: 'nfse:read or nfse:write (default: both)' },
  },
  changes: true,
  run: async ({ positionals: [cnpj = ''], flags, actor, session }) => {
    const mode = textFlag(flags, 'mode');
    if (mode !== 'test' && mode !== 'live') return badUsage('--mode must be test or live');
    const asked = textFlags(flags, 'scope');
    const scopes = SCOPES.filter((scope) => asked.length === 0 || asked.includes(scope));
    const unknown = asked.find((scope) => !SCOPES.some((known) => known === scope));
    if (unknown !== undefined) return badUsage(`--scope must be nfse:read or nfse:write, not ${unknown}`);
    const result = await createKey(cnpj, mode, scopes, (await session()).companyDeps(actor));
    if ('refused' in result) return refused(result.refused);
    const { key, id } = result.done;
    const ifUnseen = `key ${id} was made and not shown: nfse key revoke ${id}, then make another`;
    return { ...done(`${key}\nid ${id}; the key is not shown again`, result.done), ifUnseen };
  },
};

const list: Command = {
  name: 'key list',
  positionals: ['CNPJ'],
  summary: 'the API keys of a company, without their secrets',
  changes: false,
  run: async ({ positionals: [cnpj = ''], session, terminal }) => {
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['companies']);
    const { readModel, keyUses } = opened;
    const company = await readModel.company(cnpj);
    if (company === undefined) return unknownCompany(cnpj);
    const uses = await keyUses(company.keys.map(({ keyId }) => keyId));
    const keys = company.keys.map(({ keyId, mode, scopes, createdAt, revoked }) => ({
      id: keyId,
      mode,
      scopes,
      created_at: createdAt,
      revoked,
      last_used_at: uses.get(keyId) ?? null,
    }));
    const lines = keys.map(
      (key) =>
        `${key.id}  ${key.mode}  ${key.scopes.join(' ')}  ${key.created_at}  ${usedText(key.last_used_at)}${key.revoked ? '  revoked' : ''}`,
    );
    return done(lines.length === 0 ? 'no keys' : lines.join('\n'), { keys });
  },
};

/** Recorded to the hour only. */
const usedText = (at: Instant | null): string => (at === null ? 'never used' : `used ${at.slice(0, 13)}h`);

const revoke: Command = {
  name: 'key revoke',
  positionals: ['ID'],
  summary:
    'stop an API key by its id or a line with the whole key; it is refused within 2 s; - reads either from stdin',
  changes: true,
  run: async ({ positionals: [typed = ''], actor, session, terminal }) => {
    const read = await typedText(typed, 'id of the key or the line with the key', terminal);
    if ('problem' in read) return badUsage(read.problem);
    const line = read.text;
    if (line === '') return badUsage('ID is empty');
    const [text = line, ...others] = apiKeysIn(line);
    if (others.length > 0) return refused(SEVERAL_KEYS);
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['credentials']);
    const credential =
      (await opened.readModel.credentialById(text)) ?? (await opened.readModel.credential(sha256Hex(text)));
    if (credential === undefined) return refused(unknownKey(text));
    const { keyId, companyId } = credential;
    const result = await revokeKey(companyId, keyId, opened.companyDeps(actor));
    return answer(result, `key ${keyId} revoked`, { id: keyId, revoked: true });
  },
};

const isKeyId = (text: string): boolean => /^key_[0-9a-f-]{1,36}$/.test(text);

/** Does not repeat what was typed, because a part of a key is a secret too. */
const unknownKey = (text: string): string => {
  if (isKeyId(text)) return `no key ${text}`;
  return modeOfApiKey(text) === undefined ? NO_KEY_IN_IT : NO_SUCH_KEY;
};

const SEVERAL_KEYS = 'several API keys were given, and nothing was revoked: give one at a time';

const NO_KEY_IN_IT =
  'that holds no whole API key and no id of one, and nothing was revoked: a key has 55 characters; nfse key list CNPJ shows the ids of keys';

const NO_SUCH_KEY = 'no company has this key, and nothing was revoked: nfse key list CNPJ shows the ids of keys';

export const keyCommands: readonly Command[] = [create, list, revoke];
