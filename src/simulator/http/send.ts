import type { ServerResponse } from 'node:http';
import { unreachable } from '../../domain/common/unreachable.js';
import type { Answer } from './answer.js';

/** Writes the answer, or closes or resets the connection as the answer says. `reset` sends a TCP RST. */
export const send = (response: ServerResponse, answer: Answer, reset: () => void): void => {
  switch (answer.kind) {
    case 'json':
      write(response, answer.status, 'application/json; charset=utf-8', JSON.stringify(answer.body));
      return;
    case 'problem':
      write(response, answer.status, 'application/problem+json; charset=utf-8', JSON.stringify(answer.body));
      return;
    case 'html':
      if (answer.location !== undefined) response.setHeader('location', answer.location);
      write(response, answer.status, 'text/html', page(answer.title));
      return;
    case 'raw':
      write(response, answer.status, 'application/json; charset=utf-8', answer.text);
      return;
    case 'empty':
      response.writeHead(answer.status, { 'content-length': 0 });
      response.end();
      return;
    case 'cut':
      response.socket?.destroy();
      return;
    case 'reset':
      reset();
      return;
    default:
      unreachable(answer);
  }
};

const write = (response: ServerResponse, status: number, contentType: string, text: string): void => {
  const bytes = Buffer.from(text, 'utf8');
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length, ...EXTRA_HEADERS[status] });
  response.end(bytes);
};

const EXTRA_HEADERS: Readonly<Record<number, Record<string, string>>> = { 429: { 'retry-after': '1' } };

const page = (title: string): string =>
  `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\r\n` +
  `<html xmlns="http://www.w3.org/1999/xhtml">\r\n<head>\r\n<title>${title}</title>\r\n</head>\r\n` +
  `<body>\r\n<div id="header"><h1>Server Error</h1></div>\r\n<h2>${title}</h2>\r\n</body>\r\n</html>\r\n`;
