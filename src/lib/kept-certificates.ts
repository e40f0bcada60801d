/**
 * Certificates whose costly forms a process keeps, all of them alike: opened with the chain (12 KB), as a key and a text that sign (7 KB), and as a
 * TLS context (up to 60 KB). So it keeps at most 80 MB, and a company that takes its turn again finds all three or none.
 */
export const KEPT_CERTIFICATES = 1_000;
