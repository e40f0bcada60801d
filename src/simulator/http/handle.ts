import type { IncomingMessage } from 'node:http';
import { unreachable } from '../../domain/shared/unreachable.js';
import { ENVIRONMENT_FACTS, type World } from '../environment.js';
import { refusal } from '../refusal.js';
import type { FaultKind, Taken } from '../state/faults.js';
import { type Answer, answerHead, failedQuery, webServerPage } from './answer.js';
import { answerUnderFaults } from './apply-fault.js';
import type { Caller } from './caller.js';
import { eventLookupOperation, eventOperation } from './event.js';
import { issueOperation } from './issue.js';
import { fetchOperation, lookupOperation } from './lookup.js';
import type { Operation } from './operation.js';
import { answerParameters } from './parameters.js';
import { readJson } from './read-body.js';
import { type Addressed, routeOf } from './route.js';

export type Handled = { answer: Answer; addressed: Addressed; faults: readonly FaultKind[] };

/** Answers one request: certificate, route, operation, faults. Rejects when the client disconnects while it sends. */
export const handle = async (world: World, request: IncomingMessage, caller: Caller): Promise<Handled> => {
  const addressed = routeOf(request.method ?? '', request.url ?? '');
  const honest = (answer: Answer): Handled => ({ answer, addressed, faults: [] });
  const { mode, route } = addressed;
  const isParameters = route.operation === 'parameters';
  if (caller.kind === 'none') return honest(webServerPage(isParameters ? 496 : 403));
  if (caller.kind === 'refused') return honest(refusedCertificate(world, addressed, caller.code));
  if (isParameters && mode !== undefined) {
    return honest(answerParameters(world, world.environments[mode], route.path));
  }
  const operation = await operationOf(world, request, caller.cnpj, addressed);
  if ('kind' in operation) return honest(operation);
  const taken = world.faults.take(operation.on, operation.environment.mode, operation.note);
  return { answer: await answerUnderFaults(world, operation, taken), addressed, faults: kindsOf(taken) };
};

const operationOf = async (
  world: World,
  request: IncomingMessage,
  cnpj: string,
  { mode, route }: Addressed,
): Promise<Operation | Answer> => {
  if (mode === undefined || route.operation === 'none' || route.operation === 'parameters') {
    return webServerPage(route.operation === 'none' ? route.status : 404);
  }
  const environment = world.environments[mode];
  switch (route.operation) {
    case 'issue': {
      const body = await readJson(request);
      return body.ok ? issueOperation(world, environment, cnpj, body.value) : webServerPage(body.status);
    }
    case 'event': {
      const body = await readJson(request);
      if (!body.ok) return webServerPage(body.status);
      return eventOperation(world, environment, cnpj, { accessKey: route.accessKey, body: body.value });
    }
    case 'lookup':
      return lookupOperation(world, environment, cnpj, route);
    case 'fetch':
      return fetchOperation(world, environment, cnpj, route);
    case 'event_lookup':
      return eventLookupOperation(world, environment, cnpj, route);
    default:
      return unreachable(route);
  }
};

const refusedCertificate = (world: World, { mode }: Addressed, code: 'E1203' | 'E1205' | 'E1209'): Answer => {
  const environment = world.environments[mode ?? 'test'];
  const head = { ...answerHead(world, environment), tipoAmbiente: Number(ENVIRONMENT_FACTS[mode ?? 'test'].tpAmb) };
  return failedQuery(head, 403, refusal(code));
};

const kindsOf = ({ main, stale }: Taken): readonly FaultKind[] =>
  [main, stale].flatMap((fault) => (fault === undefined ? [] : [fault.kind]));
