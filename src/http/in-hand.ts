import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ErrorCode } from '../domain/common/error-catalogue.js';

/** A request that the app works on, as the server knows it too. */
type InHand = {
  readonly requestId: string;
  /** What the server answered in place of the app, because the rest of the request did not come. */
  refused?: { status: number; code: ErrorCode };
  /** Its answer only waits for its turn. */
  isHeldBack?: boolean;
};

const inHand = new WeakMap<HttpBindings['incoming'], InHand>();

/** Must be called when the app begins with a request. In tests without a connection the server knows nothing of the request. */
export const takeInHand = (c: Context, requestId: string): InHand => {
  const taken: InHand = { requestId };
  const request = incomingOf(c);
  if (request !== undefined) inHand.set(request, taken);
  return taken;
};

/** Undefined for a request that the app has not begun with. */
export const inHandOf = (request: IncomingMessage): InHand | undefined => inHand.get(request);

/** Waits for `turn`, which delays answers to those who ask too fast; until then the connection may give way to another (`boundConnections`). */
export const holdBack = async (c: Context, turn: Promise<void> | undefined): Promise<void> => {
  if (turn === undefined) return;
  const request = incomingOf(c);
  const taken = request === undefined ? undefined : inHand.get(request);
  if (taken !== undefined) taken.isHeldBack = true;
  try {
    await turn;
  } finally {
    if (taken !== undefined) taken.isHeldBack = false;
  }
};

/** Whether the answer to this request only waits for its turn. */
export const isHeldBack = (request: IncomingMessage): boolean => inHand.get(request)?.isHeldBack === true;

/** Whether the server has answered this request already, so that the app must not execute the request. */
export const isRefusedByServer = (c: Context): boolean => {
  const request = incomingOf(c);
  return request !== undefined && inHand.get(request)?.refused !== undefined;
};

/** The request as Node has it; undefined without a connection. */
export const incomingOf = ({ env }: Context): HttpBindings['incoming'] | undefined =>
  (env as Partial<HttpBindings> | undefined)?.incoming;
