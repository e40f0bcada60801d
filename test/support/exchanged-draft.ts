import { readdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Does what the owner of a folder may do while another user writes there: puts a link to `victim` in the place of the first draft whose name begins
 * with `prefix`. Resolves when that is done.
 */
export const exchangeDraft = (folder: string, prefix: string, victim: string): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      const draft = readdirSync(folder).find((name) => name.startsWith(prefix) && name.endsWith('.draft'));
      if (draft === undefined) {
        setImmediate(look);
        return;
      }
      unlinkSync(join(folder, draft));
      symlinkSync(victim, join(folder, draft));
      resolve();
    };
    look();
  });
