import { randomUUID } from 'node:crypto';
import { type CompanyId, type Mode, parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import type { Instant } from '../../domain/common/time.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import type { Traceparent } from '../../ports/tracing.js';
import type { AppendSite } from './append-sites.js';

/** Who caused an append, why and when; becomes the metadata of its events (docs/architecture.md#streams-and-events). */
export type CommandContext = {
  /** Random per command; event ids derive from it. */
  commandId: string;
  /** The Request-Id of the call that began the work; all events of that work keep it. */
  correlationId: string;
  /** The event or request that led here. */
  causationId: string;
  actor: `apiKey:${string}` | `worker:${string}` | `timer:${string}` | `support:${string}`;
  mode?: Mode;
  companyId?: CompanyId;
  now: Instant;
  /** Trace of the work; nothing is decided by it (ADR 51). */
  traceparent?: Traceparent;
  /** The append site. It is not stored; the crash tests stop a process at it. */
  site: AppendSite;
};

/**
 * Of one append. Where it holds the events of several commands, `ofEvents` has the context of each event, and the other fields are those of the
 * first.
 */
export type AppendContext = CommandContext & { ofEvents?: readonly CommandContext[] };

/** The event that led to a command. */
export type Cause = Pick<RecordedEvent, 'id' | 'metadata'>;

/**
 * The context of one append at an instant. `last` is the last event that the decision has seen, undefined for an empty stream. Every call gives a
 * fresh command id, so that an append is never taken for that of another try. Only an acceptance has the id of its claim, and all tries to record the
 * result of a send have one id.
 */
export type ContextAt = (now: Instant, last?: Cause) => CommandContext;

/** Who asks, known from the API key. */
export type Requester = { mode: Mode; companyId: CompanyId; keyId: string; requestId: string };

/** Of an API call. `commandId`: where a repeated call must append the very same event ids. */
export const requestContext =
  (
    { mode, companyId, keyId, requestId }: Requester,
    site: AppendSite,
    commandId?: CommandContext['commandId'],
  ): ContextAt =>
  (now) => ({
    commandId: commandId ?? randomUUID(),
    correlationId: requestId,
    causationId: requestId,
    actor: `apiKey:${keyId}`,
    mode,
    companyId,
    now,
    site,
  });

/**
 * Of work on a stream that has begun, by a worker or support. The context keeps correlation id and trace of the request that began the work; its cause
 * is `cause`, or else the last event that was read.
 */
export const workerContext =
  (
    stream: StreamName,
    site: AppendSite,
    { actor, cause }: Pick<CommandContext, 'actor'> & { cause?: Cause | undefined },
  ): ContextAt =>
  (now, last) => {
    const address = parseInvoiceStream(stream);
    const commandId = randomUUID();
    const event = cause ?? last;
    return present({
      commandId,
      correlationId: event?.metadata.correlationId ?? commandId,
      causationId: event?.id ?? commandId,
      actor,
      mode: address?.mode,
      companyId: address?.companyId,
      now,
      traceparent: event?.metadata.traceparent,
      site,
    });
  };

/** Of a command that no stored event and no API call led to: an operator's, a timer's, or the opening of a certificate. */
export const operatorContext =
  (site: AppendSite, { actor, mode, companyId }: Pick<CommandContext, 'actor' | 'mode' | 'companyId'>): ContextAt =>
  (now) => {
    const commandId = randomUUID();
    return present({ commandId, correlationId: commandId, causationId: commandId, actor, mode, companyId, now, site });
  };
