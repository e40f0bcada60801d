import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  DeleteReq,
  ReadReq,
  ReadResp,
  TombstoneReq,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { freePort } from '../free-port.js';
import { accessDenied, type Faults, unauthenticated } from './faults.js';
import { createDoubleLog, type DoubleLog } from './log.js';
import { streamNameOf } from './messages.js';
import { answerRead } from './reads.js';
import { answerAppend, answerBatchAppend } from './writes.js';

export type EventStoreDouble = {
  url: string;
  port: number;
  log: DoubleLog;
  faults: Faults;
  /** Ends every connection and stops listening. */
  stop(): void;
  /** At the same port, with the same events. */
  start(): Promise<void>;
  /** How often a gossip was asked for. */
  gossipReads(): number;
  /** Number of open subscriptions. */
  openSubscriptions(): number;
  close(): Promise<void>;
};

export type DoubleOptions = {
  /** With TLS: only these may call. */
  users?: Readonly<Record<string, string>>;
  tls?: { certificate: Buffer; key: Buffer };
  /** The log of another double: both are nodes of one cluster. */
  log?: DoubleLog;
  /** Ports of the nodes in the gossip, the leader first; default: this node only. */
  cluster?: () => readonly number[];
  /** Of a double that was stopped, so that this one is at its address. */
  port?: number;
};

const HOST = '127.0.0.1';

/** A server that speaks EventStoreDB's gRPC, made of the client's own stubs. */
export const startEventStoreDouble = async (options: DoubleOptions = {}): Promise<EventStoreDouble> => {
  const log = options.log ?? createDoubleLog();
  const faults: Faults = {};
  let server = new Server();
  let port = options.port ?? 0;
  let gossiped = 0;
  const credentials =
    options.tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ private_key: options.tls.key, cert_chain: options.tls.certificate }]);

  const start = async (): Promise<void> => {
    server = new Server();
    server.addService(
      streamServices.StreamsService,
      guarded(streamHandlers(log, faults), refusalBy(options.users, faults)),
    );
    server.addService(featureServices.ServerFeaturesService, { getSupportedMethods: tellFeatures });
    server.addService(gossipServices.GossipService, {
      read: (_call: unknown, reply: sendUnaryData<unknown>) => {
        gossiped += 1;
        reply(null, clusterInfo(options.cluster?.() ?? [port]));
      },
    });
    const wanted = port === 0 ? await freePort() : port;
    port = await new Promise<number>((bound, failed) => {
      server.bindAsync(`${HOST}:${wanted}`, credentials, (error, at) => (error === null ? bound(at) : failed(error)));
    });
  };
  await start();
  return {
    url: `esdb://${HOST}:${port}?tls=${options.tls !== undefined}`,
    port,
    log,
    faults,
    stop: () => server.forceShutdown(),
    start,
    gossipReads: () => gossiped,
    openSubscriptions: () => faults.openSubscriptions ?? 0,
    close: async () => server.forceShutdown(),
  };
};

type Removal<T> = ServerUnaryCall<T, unknown>;

const streamHandlers = (log: DoubleLog, faults: Faults): UntypedServiceImplementation => ({
  read: (call: ServerWritableStream<ReadReq, ReadResp>) => answerRead(call, log, faults),
  append: (call: ServerReadableStream<AppendReq, AppendResp>, reply: sendUnaryData<AppendResp>) =>
    answerAppend(call, reply, log, faults),
  batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => answerBatchAppend(call, log),
  delete: ({ request }: Removal<DeleteReq>, reply: sendUnaryData<unknown>) => {
    const wanted = request.getOptions();
    if (wanted !== undefined) log.remove(streamNameOf(wanted), false);
    reply(null, new streams.DeleteResp());
  },
  tombstone: ({ request }: Removal<TombstoneReq>, reply: sendUnaryData<unknown>) => {
    const wanted = request.getOptions();
    if (wanted !== undefined) log.remove(streamNameOf(wanted), true);
    reply(null, new streams.TombstoneResp());
  },
});

type Call = { metadata: { get(key: string): readonly unknown[] }; emit(event: 'error', error: Error): unknown };
type Handler = (call: Call, reply?: (error: Error) => void) => void;

/** An unknown user is refused before any other check, then a call for the leader at a node that does not lead. */
const refusalBy = (users: DoubleOptions['users'], faults: Faults): ((call: Call) => Error | undefined) => {
  const known = new Set(
    Object.entries(users ?? {}).map(
      ([name, password]) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    ),
  );
  return ({ metadata }) => {
    const [authorization] = metadata.get('authorization');
    if (users !== undefined && !known.has(String(authorization)))
      return authorization === undefined ? accessDenied() : unauthenticated();
    return metadata.get('requires-leader').includes('true') ? faults.notLeading : undefined;
  };
};

const guarded = (
  handlers: UntypedServiceImplementation,
  refusalOf: (call: Call) => Error | undefined,
): UntypedServiceImplementation => {
  const wrap =
    (handler: Handler): Handler =>
    (call, reply) => {
      const error = refusalOf(call);
      if (error === undefined) return handler(call, reply);
      if (reply === undefined) call.emit('error', error);
      else reply(error);
    };
  const wrapped = Object.entries(handlers).map(([name, handler]) => [name, wrap(handler as unknown as Handler)]);
  return Object.fromEntries(wrapped) as UntypedServiceImplementation;
};

const tellFeatures = (_call: unknown, reply: sendUnaryData<unknown>): void => {
  const supported = new features.SupportedMethods();
  supported.setEventStoreServerVersion('23.10.6.0');
  const batch = new features.SupportedMethod();
  batch.setServiceName('event_store.client.streams.streams');
  batch.setMethodName('batchappend');
  supported.setMethodsList([batch]);
  reply(null, supported);
};

const clusterInfo = (ports: readonly number[]) => {
  const info = new gossip.ClusterInfo();
  const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
  info.setMembersList(
    ports.map((at, index) => {
      const endPoint = new gossip.EndPoint();
      endPoint.setAddress(HOST);
      endPoint.setPort(at);
      const member = new gossip.MemberInfo();
      member.setState(index === 0 ? LEADER : FOLLOWER);
      member.setIsAlive(true);
      member.setTimeStamp('0');
      member.setHttpEndPoint(endPoint);
      return member;
    }),
  );
  return info;
};
