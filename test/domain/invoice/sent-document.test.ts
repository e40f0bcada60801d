import { describe, expect, it } from 'vitest';
import { compareSent } from '../../../src/domain/invoice/sent-document.js';

const open = { digest: 'd', signatureMark: 'm' };
const closed = { signatureMark: 'm' };
/** Of version 1, and its key is gone. */
const bare = {};

const altered = (claimed: string, computed: string) => ({ digest: '', contradiction: { claimed, computed } });

describe('what stands under an id of ours', () => {
  it.each([
    ['our digest', [open], { digest: 'd' }, 'ours'],
    ['our digest under another signature', [open], { digest: 'd', signatureMark: 'x' }, 'ours'],
    ['another digest', [open], { digest: 'x', signatureMark: 'm' }, 'other'],
    ['a content that does not fit its digest', [open], { digest: '' }, 'unknown'],
    ['a contradiction with our digest in it', [open], altered('d', 'x'), 'unknown'],
    ['our digest in a note that cannot be made of our DPS', [open], { digest: 'd', misfit: true }, 'unknown'],
    ['another digest in a note that cannot be made of its DPS', [open], { digest: 'x', misfit: true }, 'unknown'],
    ['a contradiction in which nothing is ours', [open], altered('x', 'y'), 'unknown'],
    ['an unsigned document of another content', [open], altered('', 'x'), 'unknown'],
    ['a contradiction under an id that was never sent', [], altered('', 'x'), 'unknown'],
    ['another digest, not signed by the authorizer', [open], { digest: 'x', signatureFault: 'missing' }, 'unknown'],
    ['our digest, not signed by the authorizer', [open], { digest: 'd', signatureFault: 'algorithm' }, 'ours'],
    [
      'another signature, not signed by the authorizer, the digest being closed',
      [closed],
      { digest: 'x', signatureMark: 'x', signatureFault: 'digest' },
      'unknown',
    ],
    ['nothing of ours', [], { digest: 'd', signatureMark: 'm' }, 'other'],
    ['our signature, the digest being closed', [closed], { digest: 'd', signatureMark: 'm' }, 'ours'],
    ['the signature of an earlier send', [{ signatureMark: 'x' }, closed], { digest: 'd', signatureMark: 'x' }, 'ours'],
    ['another signature, the digest being closed', [closed], { digest: 'd', signatureMark: 'x' }, 'other'],
    ['no signature, the digest being closed', [closed], { digest: 'd' }, 'unknown'],
    ['content that does not fit, the digest being closed', [closed], { digest: '' }, 'unknown'],
    ['anything, when nothing is left to compare', [bare], { digest: 'd', signatureMark: 'm' }, 'unknown'],
    [
      'another signature, with one send that cannot be compared',
      [closed, bare],
      { digest: 'd', signatureMark: 'x' },
      'unknown',
    ],
    ['our digest, with one send that cannot be compared', [bare, open], { digest: 'd' }, 'ours'],
  ] as const)('%s', (_what, sent, found, verdict) => {
    expect(compareSent(sent, found)).toBe(verdict);
  });
});
