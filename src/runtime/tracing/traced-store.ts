import type { AppendContext, CommandContext } from '../../app/event-store/command-context.js';
import type { EventStore, Stored } from '../../app/event-store/event-store.js';
import type { DomainEvent } from '../../app/event-store/event-types.js';
import { present } from '../../domain/common/present.js';
import type { Span, SpanAttributes, Tracing } from '../../ports/tracing.js';

/** Makes a span of each append and load inside a trace; that of an append goes into the metadata of its events (ADR 51). */
export const tracedStore =
  (tracing: Tracing) =>
  (store: EventStore): EventStore => {
    const { appendGuarded } = store;
    const appended = <T extends Stored>(
      events: readonly DomainEvent[],
      context: AppendContext,
      append: (context: AppendContext) => Promise<T>,
    ): Promise<T> => {
      if (tracing.current() === undefined) return append(context);
      const contexts = context.ofEvents ?? [context];
      const attributes = { ...ofEvents(events), ...ofContext(context) };
      return inSpans(tracing, `append ${events[0]?.type ?? 'nothing'}`, attributes, contexts, async (spans) => {
        const own = contexts.map((one, index) => withSpan(one, spans[index]));
        const stored = await append(
          context.ofEvents === undefined
            ? withSpan(context, spans[0])
            : { ...withSpan(context, spans[0]), ofEvents: own },
        );
        if (!stored.ok) for (const span of new Set(spans)) span.add({ 'nfse.lost_race': true });
        return stored;
      });
    };
    return {
      load: (stream, options) =>
        tracing.current() === undefined
          ? store.load(stream, options)
          : tracing.inSpan('read stream', { kind: 'client' }, async (span) => {
              const loaded = await store.load<never>(stream, options);
              span.add({ 'nfse.events': loaded.events.length });
              return loaded;
            }),
      ...present({ lastReadsAtOnce: store.lastReadsAtOnce }),
      append: (stream, version, events, context) =>
        appended(events, context, (own) => store.append(stream, version, events, own)),
      ...(appendGuarded && {
        appendGuarded: (stream, event, context, guards) =>
          appended([event], context, (own) => appendGuarded(stream, event, own, guards)),
      }),
    };
  };

/** An append may hold the work of several traces; each of them gets a span. Contexts of one trace share a span. */
const inSpans = <T>(
  tracing: Tracing,
  name: string,
  attributes: SpanAttributes,
  contexts: readonly CommandContext[],
  work: (spans: readonly Span[]) => Promise<T>,
): Promise<T> => {
  const ofTraces = new Map<string | undefined, Span>();
  const begin = (index: number): Promise<T> => {
    const context = contexts[index];
    if (context === undefined) return work(contexts.flatMap((one) => ofTraces.get(traceOf(one)) ?? []));
    const trace = traceOf(context);
    if (ofTraces.has(trace)) return begin(index + 1);
    return tracing.inSpan(name, { kind: 'client', parent: context.traceparent, attributes }, (span) => {
      ofTraces.set(trace, span);
      return begin(index + 1);
    });
  };
  return begin(0);
};

const traceOf = ({ traceparent }: CommandContext): string | undefined => traceparent?.split('-')[1];

const withSpan = <C extends CommandContext>(context: C, span: Span | undefined): C =>
  span === undefined ? context : { ...context, traceparent: span.traceparent };

const ofContext = ({ site, mode, companyId }: CommandContext): SpanAttributes =>
  present({ 'nfse.site': site, 'nfse.mode': mode, 'nfse.company': companyId });

/** Types, attempt and outcome only: other data of events may be personal. */
const ofEvents = (events: readonly DomainEvent[]): SpanAttributes => {
  const attempt = events
    .map(({ data }) => ('attempt' in data ? data.attempt : undefined))
    .find((one) => one !== undefined);
  return present({ 'nfse.events': events.map(({ type }) => type), 'nfse.attempt': attempt });
};
