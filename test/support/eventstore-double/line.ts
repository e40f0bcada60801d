import { openTcpLine, type TcpLine } from '../tcp-line.js';

/** A proxy in front of a server, double or real, that a test can cut or hold. */
export type Line = Omit<TcpLine, 'port' | 'refuse'> & {
  /** Of the server, through the line. */
  url: string;
};

/** Before the only node of an `esdb://` address. The name of the host stays, so that a certificate still fits it. */
export const openLine = async (url: string): Promise<Line> => {
  const [, head = '', host = '', port = '2113', rest = ''] =
    /^(esdb:\/\/(?:[^@/]*@)?)([^:,/?]+)(?::(\d+))?(.*)$/.exec(url) ?? [];
  const line = await openTcpLine(host, Number(port));
  return { ...line, url: `${head}${host}:${line.port}${rest}` };
};
