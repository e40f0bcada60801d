/**
 * What `customer.document` may be: a CPF of 11 or a CNPJ of 14 digits. The one place that opens the API for CNPJs with letters
 * (reading 34): everything behind it takes `[0-9A-Z]{12}[0-9]{2}` already, as does the layout since 2026-08-10.
 */
export const CUSTOMER_DOCUMENT = /^(?:[0-9]{11}|[0-9]{14})$/;
