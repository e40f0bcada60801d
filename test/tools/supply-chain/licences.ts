/** The licences that the product may contain, each with the reason. Any other licence fails the check. */
export const ALLOWED: Readonly<Record<string, string>> = {
  MIT: 'keep the notice',
  'Apache-2.0': 'keep licence and NOTICE; grants patents',
  'BSD-2-Clause': 'keep the notice',
  'BSD-3-Clause': 'keep the notice; no use of names in advertising',
  ISC: 'keep the notice',
  '0BSD': 'asks for nothing',
  Zlib: 'say what was altered; asks for no notice in binaries (pako, of png-js; zlib in the PostgreSQL of one platform)',
  Unlicense: 'given to the public domain (tweetnacl, of nats)',
  'BlueOak-1.0.0': 'keep the notice; grants patents (sax, of pdfmake)',
  'OFL-1.1': 'fonts only: not sold alone, no reserved name for altered ones; documents that embed them stay free',
  'W3C-19980720': 'keep the notice (the schema of XML signatures, unaltered)',
  PostgreSQL: 'keep the notice',
  OpenSSL: 'keep notice and acknowledgement (in the PostgreSQL of one platform)',
  ICU: 'keep the notice (in the PostgreSQL of one platform)',
};

/** What manifests leave out, read in the package's own licence file or in its sources; a new version has to be read again. */
export const STATED: Readonly<Record<string, { licence?: string; copyright: readonly string[] }>> = {
  'png-js@1.1.0': { licence: 'MIT', copyright: [] },
  // For macOS only, so its licence file is not at hand elsewhere.
  'fsevents@2.3.3': {
    copyright: ['Copyright (C) 2010-2020 by Philipp Dunkel, Ben Noordhuis, Elan Shankar, Paul Miller'],
  },
};

/** The licence texts that bind us, of an SPDX expression; of a choice (`OR`) the allowed ones. Undefined when none may be used. */
export const usableLicences = (expression: string): readonly string[] | undefined => {
  const words = expression.replaceAll(/[()]/g, ' ').trim().split(/\s+/);
  const ids = words.filter((_, place) => place % 2 === 0);
  const joints = new Set(words.filter((_, place) => place % 2 === 1));
  const allowed = ids.filter((id) => Object.hasOwn(ALLOWED, id));
  if (joints.size === 0 || (joints.size === 1 && joints.has('AND')))
    return allowed.length === ids.length ? ids : undefined;
  // Both joints in one expression need its brackets, which are not read here: a person decides.
  return joints.size === 1 && joints.has('OR') && allowed.length > 0 ? allowed : undefined;
};
