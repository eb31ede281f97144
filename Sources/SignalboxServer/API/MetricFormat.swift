/// The text form of a page of metrics, as the client of a request asks for it.
struct MetricFormat: Equatable, Sendable {
    /// OpenMetrics 1.0 instead of the Prometheus text format 0.0.4.
    var isOpenMetrics = false
    /// Compressed with gzip.
    var isCompressed = false

    /// Reads the values of `accept` and `accept-encoding`; nil for a missing field. OpenMetrics is sent only to a
    /// client that names it and does not prefer plain text. Wildcards select neither OpenMetrics nor compression.
    init(accept: String?, encoding: String?) {
        let types = Preference.all(in: accept)
        if let open = types.first(where: { $0.name == "application/openmetrics-text" && Self.knows($0.version) }) {
            isOpenMetrics = open.quality > 0 && open.quality >= (types.first { $0.name == "text/plain" }?.quality ?? 0)
        }
        let codings = Preference.all(in: encoding)
        isCompressed = (codings.first { $0.name == "gzip" }?.quality ?? 0) > 0
    }

    /// Later versions may differ; a client that accepts them names one of these too.
    private static func knows(_ version: String?) -> Bool {
        version == nil || version == "1.0.0" || version == "0.0.1"
    }

    /// The value of `content-type`.
    var contentType: String {
        isOpenMetrics
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8"
    }

    /// One alternative of a field that lists alternatives (RFC 9110, 12.4 and 12.5).
    private struct Preference {
        /// In lower case, without parameters; empty for an empty alternative.
        let name: String
        /// The weight `q`, from 0 to 1. 0 means not acceptable; a weight that is not a number counts as 0.
        var quality = 1.0
        /// The parameter `version`; nil without one.
        var version: String?

        /// At most 32 alternatives; the rest is not read.
        static func all(in field: String?) -> [Preference] {
            (field ?? "").split(separator: ",").prefix(32).map { Preference($0) }
        }

        /// Reads `name;q=0.5;version=1.0.0`. Case, spaces and quotation marks do not matter; other parameters have no
        /// effect.
        private init(_ text: Substring) {
            let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { part in
                String(part.filter { $0 != " " && $0 != "\t" && $0 != "\"" }).lowercased()
            }
            name = parts.first ?? ""
            for part in parts.dropFirst() {
                if part.hasPrefix("q=") { quality = Double(part.dropFirst(2)) ?? 0 }
                if part.hasPrefix("version=") { version = String(part.dropFirst(8)) }
            }
        }
    }
}
