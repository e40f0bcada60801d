export const ROOT: string;
export const PROGRAMS: readonly string[];
export const SOURCES: readonly string[];
export const bundle: (folder: string, programs: readonly string[]) => Promise<void>;
export const buildState: () => 'missing' | 'stale' | 'fresh';
export const buildDist: () => Promise<void>;
export const canBuild: () => boolean;
