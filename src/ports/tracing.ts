/** The W3C trace context of a span: `00-<trace id>-<span id>-<flags>`, in hex. It names a trace and says nothing else. */
export type Traceparent = string;

/** What a span may say: ids, codes, counts and names of this program. Never a key, token, document, name or text of a client. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export type SpanOptions = {
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /**
   * The span that led to this one, here or in another process. The span of the calling work goes before it where both are of one trace. Without
   * either a trace begins; what is no trace context is ignored.
   */
  parent?: Traceparent | undefined;
  attributes?: SpanAttributes;
};

/** A span under way. Its calls never throw. */
export type Span = {
  readonly traceparent: Traceparent;
  rename(name: string): void;
  add(attributes: SpanAttributes): void;
  /** Marks the span as failed; `type` is a code or the name of an error. */
  fail(type: string): void;
};

/** Traces of the work of this process. Losing spans never disturbs the work. */
export type Tracing = {
  /** Runs the work inside a new span, which ends with it and fails when the work throws. */
  inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** The innermost span in which the caller runs. */
  current(): Span | undefined;
};
