import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../domain/shared/error-catalogue.js';

/** A refusal of HTTP itself, for requests that never reach the app: the envelope under a status of the protocol's own. */
export type BareRefusal = { status: number; refusal: Refusal };

/** What Node tells of bytes that it could not take for a request. */
export type ParseFault = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

/** Node's own limit. It drops what is more in silence, a credential too: hence one more is let in, to be refused. */
export const MAX_HEADERS = 2000;

/** Requests of one connection that are not answered yet: a packet holds two thousand, each of which takes its time. */
export const MAX_WAITING = 10;

const invalid = (status: number, message: string): BareRefusal => ({
  status,
  refusal: { code: 'invalid_request', message },
});

export const BAD_REQUEST = invalid(400, 'O pedido HTTP não é válido: confira a linha do pedido e os cabeçalhos.');
export const TOO_MANY_WAITING = invalid(
  400,
  `A conexão tem mais de ${MAX_WAITING} pedidos sem resposta. Espere as respostas antes de enviar outros.`,
);
export const EXPECTATION_FAILED = invalid(417, 'O cabeçalho Expect só pode ser 100-continue. Retire-o ou corrija-o.');
export const ROUTE_NOT_FOUND: BareRefusal = { status: 404, refusal: { code: 'route_not_found' } };
const TIMED_OUT = invalid(408, 'O pedido não chegou inteiro no prazo e não foi executado. Confira a conexão.');
const TOO_MUCH_HEADER = invalid(
  431,
  `Os cabeçalhos passam de 16 KiB ou de ${MAX_HEADERS}. Retire os que não são da API.`,
);

/** What is wrong with a request before anything else is looked at. */
export const refusalOfRequest = ({
  rawHeaders,
  httpVersion,
  headers,
  url,
}: IncomingMessage): BareRefusal | undefined => {
  if (rawHeaders.length > 2 * MAX_HEADERS) return TOO_MUCH_HEADER;
  if (httpVersion !== '1.0' && headers.host === undefined) return BAD_REQUEST;
  if (hasSecondHost(rawHeaders) || !HOST.test(headers.host ?? '')) return BAD_REQUEST;
  return url === '*' ? ROUTE_NOT_FOUND : undefined;
};

/** Names, addresses and ports. Anything else, as a slash, could be read as a part of the path. */
const HOST = /^[\w.:[\]-]*$/;

/** Node takes the first, a proxy before it may have taken the second. */
export const hasSecondHost = (rawHeaders: readonly string[]): boolean => {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
};

/** A well-formed request whose method Node does not know is an unknown route (reading 18); anything else is no HTTP. */
export const refusalOfFault = (fault: ParseFault): BareRefusal => {
  switch (fault.code) {
    case 'HPE_HEADER_OVERFLOW':
      return TOO_MUCH_HEADER;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return TIMED_OUT;
    case 'HPE_INVALID_METHOD':
      return REQUEST_LINE.test(lineOfFault(fault)) ? ROUTE_NOT_FOUND : BAD_REQUEST;
    default:
      return BAD_REQUEST;
  }
};

export const isTimeout = ({ code }: ParseFault): boolean => code === 'ERR_HTTP_REQUEST_TIMEOUT';

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]$/;

/** From the start of the line, as requests before it may stand in the same packet. */
const lineOfFault = ({ rawPacket, bytesParsed = 0 }: ParseFault): string => {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf('\n', bytesParsed - 1) + 1;
  return text.slice(start).split('\r\n', 1)[0] ?? '';
};
