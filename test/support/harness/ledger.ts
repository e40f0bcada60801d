/** A note as the simulator's ledger has it (its control port, `GET /_control/ledger`). */
export type LedgerNote = {
  access_key: string;
  dps_id: string;
  cnpj: string;
  amount_in_cents: number;
  authorized_at: string;
  canceled_at?: string;
};

/** The notes that the authorizer holds, independent of the service's tables. */
export const readLedger = async (controlUrl: string): Promise<readonly LedgerNote[]> => {
  const response = await fetch(`${controlUrl}/_control/ledger?environment=test`);
  if (!response.ok) throw new Error(`the ledger answered ${response.status}`);
  return (await response.json()) as readonly LedgerNote[];
};

export const isCanceled = ({ canceled_at }: LedgerNote): boolean => canceled_at !== undefined;
