import { unreachable } from '../../domain/common/unreachable.js';
import type { Environment, World } from '../environment.js';
import { refusal } from '../refusal.js';
import type { FaultKind, Taken } from '../state/faults.js';
import { type Answer, answersOf, webServerPage } from './answer.js';
import { answerOfTestValue, answerUnderFaults } from './apply-fault.js';
import type { Caller } from './caller.js';
import { answerDistribution } from './distribution.js';
import { eventListOperation, eventLookupOperation, eventOperation } from './event.js';
import { issueOperation } from './issue.js';
import { fetchOperation, lookupOperation } from './lookup.js';
import type { Operation } from './operation.js';
import { answerParameters } from './parameters.js';
import { jsonOf } from './read-body.js';
import { type Addressed, type Route, routeOf } from './route.js';

export type Handled = {
  answer: Answer;
  addressed: Addressed;
  faults: readonly FaultKind[];
  dpsId?: string | undefined;
};

/** `body` is undefined for a body over the limit. */
type Received = { method: string; url: string; body: Buffer | undefined };

/** Answers one request: certificate, route, operation, faults. */
export const handle = async (world: World, request: Received, caller: Caller): Promise<Handled> => {
  const addressed = routeOf(request.method, request.url, world);
  const honest = (answer: Answer): Handled => ({ answer, addressed, faults: [] });
  const { mode, route } = addressed;
  const environment = world.environments[mode ?? 'test'];
  if (caller.kind !== 'known') return honest(withoutCertificate(world, environment, route, caller));
  if (route.operation === 'none') {
    return honest(webServerPage(route.status, route.status === 307 ? route.location : undefined));
  }
  if (route.operation === 'parameters') return honest(answerParameters(world, environment, route.path));
  if (route.operation === 'distribution')
    return honest(await answerDistribution(world, environment, caller.cnpj, route));
  const operation = operationOf(world, environment, request, caller.cnpj, route);
  if ('kind' in operation) return honest(operation);
  const taken = world.faults.take(operation.on, environment.mode, operation.note);
  const ordered = kindsOf(taken);
  // An order of the control port goes before a test value.
  if (ordered.length > 0) {
    const answer = await answerUnderFaults(world, operation, taken);
    return { answer, addressed, faults: ordered, dpsId: operation.dpsId };
  }
  const { answer, fault } = await answerOfTestValue(world, operation);
  return { answer, addressed, faults: fault === undefined ? [] : [fault], dpsId: operation.dpsId };
};

/** The answer to no certificate, or to one that is refused: in the form of the called operation, or of the web server of the ADN. */
const withoutCertificate = (
  world: World,
  environment: Environment,
  route: Route,
  caller: Exclude<Caller, { kind: 'known' }>,
): Answer => {
  if (isAtAdn(route)) return webServerPage(496);
  if (caller.kind === 'none') return webServerPage(403);
  const { rejectedDps, rejectedEvent, failedQuery } = answersOf(world, environment);
  const fault = refusal(caller.code);
  switch (route.operation) {
    case 'issue':
      return rejectedDps([fault], undefined, 403);
    case 'event':
      return rejectedEvent([fault], 403);
    default:
      return failedQuery(403, fault);
  }
};

const isAtAdn = ({ operation }: Route): boolean => operation === 'parameters' || operation === 'distribution';

const operationOf = (
  world: World,
  environment: Environment,
  { body }: Received,
  cnpj: string,
  route: Exclude<Route, { operation: 'none' | 'parameters' | 'distribution' }>,
): Operation | Answer => {
  switch (route.operation) {
    case 'issue': {
      const json = jsonOf(body);
      return json.ok ? issueOperation(world, environment, cnpj, json.value) : webServerPage(json.status);
    }
    case 'event': {
      const json = jsonOf(body);
      if (!json.ok) return webServerPage(json.status);
      return eventOperation(world, environment, cnpj, { accessKey: route.accessKey, body: json.value });
    }
    case 'lookup':
      return lookupOperation(world, environment, cnpj, route);
    case 'fetch':
      return fetchOperation(world, environment, cnpj, route);
    case 'event_lookup':
      return eventLookupOperation(world, environment, cnpj, route);
    case 'event_list':
      return eventListOperation(world, environment, cnpj, route);
    default:
      return unreachable(route);
  }
};

const kindsOf = ({ main, stale }: Taken): readonly FaultKind[] =>
  [main, stale].flatMap((fault) => (fault === undefined ? [] : [fault.kind]));
