import SignalboxJSON

extension OTLPResource {
    /// An `ExportTraceServiceRequest` with these spans, at least one.
    func traces(_ spans: [TraceSpan]) -> [UInt8] {
        request("resourceSpans", "scopeSpans", "spans") { json in
            for span in spans { json.span(span) }
        }
    }
}

extension JSONWriter {
    /// Source: opentelemetry/proto/trace/v1/trace.proto, `Span`
    fileprivate mutating func span(_ span: TraceSpan) {
        beginObject()
        context(span.context)
        member("traceState", span.state)
        member("parentSpanId", span.parent?.description)
        member("name", span.name)
        member("kind", span.kind.rawValue)
        member("startTimeUnixNano", nanosecondsOf: span.begun)
        member("endTimeUnixNano", nanosecondsOf: span.ended)
        array("attributes", of: span.attributes) { json, attribute in
            switch attribute.value {
            case .text(let text): json.attribute(attribute.name, text)
            case .number(let number): json.attribute(attribute.name, number)
            }
        }
        if !span.links.isEmpty {
            objects("links", of: span.links) { json, link in
                json.context(link)
                json.member("flags", Int(link.flags))
            }
        }
        // STATUS_CODE_ERROR; other spans have no status.
        if span.isFailed { object("status") { $0.member("code", 2) } }
        member("flags", Int(span.context.flags))
        endObject()
    }

    private mutating func context(_ context: TraceContext) {
        member("traceId", context.traceID.description)
        member("spanId", context.spanID.description)
    }
}
