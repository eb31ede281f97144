package import Foundation

/// An ended span, as the gateway exports it. The names of attributes are those of OpenTelemetry's conventions for HTTP
/// and messaging.
package struct TraceSpan: Sendable, Equatable {
    /// The role of a span. Raw values are those of OTLP.
    package enum Kind: Int, Sendable {
        case server = 2
        case client = 3
        case producer = 4
    }

    /// A name and its value.
    package struct Attribute: Sendable, Equatable {
        /// The types that the gateway's attributes have.
        package enum Value: Sendable, Equatable {
            case text(String)
            case number(Int)
        }

        package let name: String
        package let value: Value

        init(_ name: String, _ text: String) { (self.name, value) = (name, .text(text)) }
        init(_ name: String, _ number: Int) { (self.name, value) = (name, .number(number)) }
    }

    /// The trace and the span itself.
    package let context: TraceContext
    /// Low in cardinality: never an identifier or a URL.
    package let name: String
    package let kind: Kind
    package let begun: Date
    package let ended: Date
    /// Nil for the first span of a trace.
    package var parent: SpanID?
    /// The received members of `tracestate`; nil for none.
    package var state: String?
    /// In a fixed order for each kind of span.
    package var attributes: [Attribute] = []
    /// Spans of other traces that led to this one, and of the same trace besides ``parent``.
    package var links: [TraceContext] = []
    /// True if the operation failed.
    package private(set) var isFailed = false

    /// A span that succeeded, without attributes. A clock that was set back does not make it end before it began.
    init(_ context: TraceContext, _ name: String, _ kind: Kind, from begun: Date, to ended: Date) {
        (self.context, self.name, self.kind) = (context, name, kind)
        (self.begun, self.ended) = (begun, max(begun, ended))
    }

    /// Marks the span as failed. `error`: from a closed set, such as a status code.
    mutating func fail(_ error: String) {
        isFailed = true
        attributes.append(Attribute("error.type", error))
    }
}
