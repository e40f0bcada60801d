/** The code of an error of Node or of a driver: an errno name or an SQLSTATE. Undefined for an error without one. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
