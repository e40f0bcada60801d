import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findRegistryEntry, MAX_REGISTRY_BYTES } from '../../../src/adapters/tax-registry/registry-look-up.js';
import { readConfig } from '../../../src/runtime/config/config.js';

const CNPJ = '12345678000195';
/** Longer than an answer takes on a busy machine. */
const PATIENCE_MS = 30_000;
/** The tests of the limit wait this long. */
const LIMIT_MS = 1_000;
const named = JSON.stringify({ legal_name: ' EMPRESA DE EXEMPLO LTDA ' });

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const serverOf = async (listener: RequestListener): Promise<{ url: string; server: Server }> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
};

const ask = (url: string, limitMs = PATIENCE_MS) => findRegistryEntry(url, CNPJ, limitMs);

const answered = async (answer: (response: ServerResponse) => void, limitMs = PATIENCE_MS) => {
  const { url } = await serverOf((_request, response) => answer(response));
  return await ask(url, limitMs);
};

describe('the tax registry', () => {
  it('tells the name, and is asked for an uncompressed answer', async () => {
    const seen: (string | undefined)[] = [];
    const { url } = await serverOf((request, response) => {
      seen.push(request.url, request.headers['accept-encoding']);
      response.end(named);
    });
    expect(await ask(url)).toEqual({ cnpj: CNPJ, legalName: 'EMPRESA DE EXEMPLO LTDA' });
    expect(seen).toEqual([`/${CNPJ}`, 'identity']);
  });

  it.each([
    ['about the CNPJ that was asked for, with a mask', '12.345.678/0001-95', 'EMPRESA LTDA'],
    ['about another CNPJ, which counts as no answer', '98765432000198', undefined],
  ])('may say whom it is about: %s', async (_what, cnpj, name) => {
    const found = await answered((response) => response.end(JSON.stringify({ cnpj, legal_name: 'EMPRESA LTDA' })));
    expect(found?.legalName).toBe(name);
  });

  const address = {
    street: ' Av. Rio Branco ',
    number: '123',
    district: 'Centro',
    city: 'Niterói',
    state: 'RJ',
    postal_code: '24020077',
  };
  const known = {
    street: 'Av. Rio Branco',
    number: '123',
    district: 'Centro',
    city: 'Niterói',
    state: 'RJ',
    postalCode: '24020077',
  };

  it.each([
    ['without a complement', address, known],
    ['with one', { ...address, complement: 'Sala 4' }, { ...known, complement: 'Sala 4' }],
    ['whose complement is null', { ...address, complement: null }, known],
    ['whose complement is empty', { ...address, complement: ' ', country: 'BR' }, known],
    ['whose number is null', { ...address, number: null }, { ...known, number: 'S/N' }],
    ['whose number is blank', { ...address, number: ' ' }, { ...known, number: 'S/N' }],
    ['whose postal code has a mask', { ...address, postal_code: '24020-077' }, known],
    ['whose postal code has a mask with a point', { ...address, postal_code: ' 24.020-077' }, known],
    ['whose state is in small letters', { ...address, state: 'rj ' }, known],
    ['whose street has a line break', { ...address, street: 'Av. Rio\r\n Branco' }, known],
  ])('tells the address too, %s', async (_name, said, wanted) => {
    const body = JSON.stringify({ legal_name: 'EMPRESA', address: said });
    expect(await answered((response) => response.end(body))).toEqual({
      cnpj: CNPJ,
      legalName: 'EMPRESA',
      address: wanted,
    });
  });

  it.each([
    ['no street', { ...address, street: undefined }, [['street']]],
    ['no number', { ...address, number: undefined }, [['number']]],
    [
      'a blank district and a short postal code',
      { ...address, district: ' ', postal_code: '2402007' },
      [['district', 'postal_code']],
    ],
    ['a state in words', { ...address, state: 'Rio de Janeiro' }, [['state']]],
    ['a text', 'Av. Rio Branco, 123', [[]]],
    ['null', null, []],
  ])('tells the name alone when its address is or has %s, and reports the members', async (_name, said, wanted) => {
    const body = JSON.stringify({ legal_name: 'EMPRESA', address: said });
    const { url } = await serverOf((_request, response) => response.end(body));
    const reported: (readonly string[])[] = [];
    const found = await findRegistryEntry(url, CNPJ, PATIENCE_MS, (members) => reported.push(members));
    expect(found).toEqual({ cnpj: CNPJ, legalName: 'EMPRESA' });
    expect(reported).toEqual(wanted);
  });

  it('tells a name in one line, without control characters (TEXT-3, TEXT-5)', async () => {
    const body = JSON.stringify({ legal_name: ' EMPRESA\r\nDE\tEXEMPLO\u0085 \u0001LTDA' });
    expect((await answered((response) => response.end(body)))?.legalName).toBe('EMPRESA DE EXEMPLO LTDA');
  });

  it.each(['gzip', 'br', 'deflate', 'x-unknown'])(
    'is not believed when it answers in %s all the same',
    async (encoding) => {
      expect(
        await answered((response) => {
          response.writeHead(200, { 'content-encoding': encoding });
          response.end(encoding === 'gzip' ? gzipSync(named) : named);
        }),
      ).toBeUndefined();
    },
  );

  it('sends no compressed answer: the connection is closed before such an answer is read', async () => {
    let taken = 0;
    let isClosed = false;
    const block = Buffer.alloc(64 * 1024);
    const { url } = await serverOf((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.on('close', () => {
        isClosed = true;
      });
      const more = (): void => {
        while (!isClosed && response.write(block)) taken += block.length;
      };
      response.on('drain', more);
      more();
    });
    expect(await ask(url)).toBeUndefined();
    await vi.waitFor(() => expect(isClosed).toBe(true), { timeout: 60_000 });
    expect(taken).toBeLessThan(32 * 1024 * 1024);
  });

  it('is read up to its bound and no further', async () => {
    const filled = (bytes: number): string => {
      const text = JSON.stringify({ legal_name: 'EMPRESA', padding: '' });
      return text.replace('""', `"${'a'.repeat(bytes - text.length)}"`);
    };
    expect(filled(MAX_REGISTRY_BYTES)).toHaveLength(MAX_REGISTRY_BYTES);
    expect(await answered((response) => response.end(filled(MAX_REGISTRY_BYTES)))).toMatchObject({ cnpj: CNPJ });
    expect(await answered((response) => response.end(filled(MAX_REGISTRY_BYTES + 1)))).toBeUndefined();
  });

  it('is left after a thousand chunks of one byte', async () => {
    const inBytes = (response: ServerResponse): void => {
      response.write(named);
      // Newer versions of Node join what a turn writes into one chunk.
      response.socket?.write('1\r\n \r\n'.repeat(2_000));
      response.end();
    };
    expect(await answered(inBytes)).toBeUndefined();
  });

  it('has one limit for the whole exchange: a body that drips does not renew it', async () => {
    let drops = 0;
    let timer: NodeJS.Timeout | undefined;
    closing.push(() => clearInterval(timer));
    let isClosed = false;
    const dripped = answered((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.on('close', () => {
        isClosed = true;
      });
      timer = setInterval(() => {
        drops += 1;
        response.write(' ');
      }, 20);
    }, LIMIT_MS);
    expect(await dripped).toBeUndefined();
    await vi.waitFor(() => expect(isClosed).toBe(true), { timeout: 60_000 });
    expect(drops).toBeGreaterThan(0);
  });

  it.each([
    ['never ends its headers', 'HTTP/1.1 200 OK\r\n', () => `x-${'a'.repeat(20)}: ${'b'.repeat(1000)}\r\n`],
    ['never says a word', '', () => ''],
  ])('is given up at the time limit when it %s', async (_name, head, more) => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).resume();
      socket.write(head);
      const timer = setInterval(() => socket.write(more()), 5);
      socket.on('close', () => clearInterval(timer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await ask(url, LIMIT_MS)).toBeUndefined();
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true), { timeout: 60_000 });
  });

  it.each([301, 302, 303, 307, 308])('is not followed to another place: %i', async (status) => {
    const asked: (string | undefined)[] = [];
    const { url } = await serverOf((request, response) => {
      asked.push(request.url);
      if (request.url === '/elsewhere') return response.end(named);
      return response.writeHead(status, { location: '/elsewhere' }).end(named);
    });
    expect(await ask(url)).toBeUndefined();
    expect(asked).toEqual([`/${CNPJ}`]);
  });

  it.each([
    ['no JSON', 'EMPRESA'],
    ['another shape', '[]'],
    ['no name', '{"legal_name":" "}'],
    ['a name that is no text', '{"legal_name":7}'],
  ])('tells nothing by %s', async (_name, body) => {
    expect(await answered((response) => response.end(body))).toBeUndefined();
  });

  it.each([404, 500])('tells nothing by %i', async (status) => {
    expect(await answered((response) => response.writeHead(status).end(named))).toBeUndefined();
  });

  it('that does not run tells nothing', async () => {
    const { url, server } = await serverOf(() => undefined);
    server.close();
    expect(await ask(url)).toBeUndefined();
  });
});

describe('its address', () => {
  const problemsOf = (url: string): readonly string[] => {
    const read = readConfig({ TAX_REGISTRY_URL: url });
    return 'problems' in read ? read.problems : [];
  };

  it.each(['http://registry.example', 'http://10.0.0.1/cnpj', 'http://127.0.0.1.example', 'ftp://127.0.0.1', 'none'])(
    'is refused by the name of its variable: %s',
    (url) => {
      expect(problemsOf(url)).toEqual([expect.stringMatching(/^TAX_REGISTRY_URL must be/)]);
    },
  );

  it.each(['https://registry.example/v1', 'http://127.0.0.1:8080', 'http://localhost/cnpj', 'http://[::1]:9'])(
    'is taken: %s',
    (url) => {
      expect(problemsOf(url)).toEqual([]);
    },
  );
});
