import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Recorder } from './recorder.js';
import type { Service } from './service.js';
import { exportLog } from './settle.js';

describe('an export of the log that fails', () => {
  it('is a trouble each time, and ends the run when it goes on failing', async () => {
    const troubles: string[] = [];
    const recorder = { trouble: (detail: string) => void troubles.push(detail) } as Recorder;
    // The configuration lacks the key file, so the command refuses at once.
    const service = { env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/absent' } } as unknown as Service;
    const file = join(import.meta.dirname, 'never-written.ndjson');
    await expect(exportLog(service, file, recorder)).rejects.toThrow('exited with 2');
    expect(troubles).toHaveLength(3);
  });
});
