/** Names the folder with the keys of this run, for its workers. */
export const IDENTITY = 'NFSE_TEST_IDENTITY';
