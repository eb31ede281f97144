import Foundation
package import Logging
import SignalboxNotification

/// The form of log lines. Raw values are those of `--log-format`.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message and fields.
    case text
    /// For programs: an object in each line.
    case json
}

/// Writes each message as one line: time, level, message, then the fields, sorted by name. ``LogFormat/json`` is in
/// `LineLogHandler+JSON.swift`.
///
///     2026-11-22T15:15:50.417Z warning Delivery moved to dead letters. destination=crm reason="answered 400"
///
/// The time is RFC 3339 in UTC. A value with a space, a quote, a backslash or `=` is a JSON string. Characters that
/// end a line or control a terminal are escaped everywhere, so no input can forge a line. The handler formats at the
/// time of the message, so metadata costs nothing while no message is logged.
package struct LineLogHandler: LogHandler {
    /// Fields of the logger, for all of its messages. A field of a message with the same name wins.
    package var metadata: Logger.Metadata = [:]
    /// Fields of the current task, read at each message; nil for none. They win over ``metadata``.
    package var metadataProvider: Logger.MetadataProvider?
    /// The lowest level to write; the logger checks it.
    package var logLevel: Logger.Level = .notice
    private let format: LogFormat
    /// Receives whole lines.
    private let write: @Sendable (String) -> Void

    /// The most characters of a value or a message; `…` replaces the rest.
    static let longest = 1024

    /// `write` receives each line with its line end, from the task that logs.
    package init(_ format: LogFormat = .text, write: @escaping @Sendable (String) -> Void) {
        (self.format, self.write) = (format, write)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Formats and writes on the calling thread. The time is that of the call. `Logger` has checked the level.
    package func log(event: LogEvent) {
        let time = Timestamp(Date())
        write(format == .json ? jsonLine(of: event, at: time) : line(of: event, at: time))
    }

    /// A field of the message wins over one of the provider, and that one over one of the logger. The error of the
    /// event becomes the field `error`, and wins over all others.
    func fields(of event: LogEvent) -> Logger.Metadata {
        var fields = metadata.merging(metadataProvider?.get() ?? [:]) { _, provided in provided }
        fields.merge(event.metadata ?? [:]) { _, given in given }
        if let error = event.error { fields["error"] = "\(error)" }
        return fields
    }

    /// The line in ``LogFormat/text``, with its line end.
    func line(of event: LogEvent, at time: Timestamp) -> String {
        let fields = fields(of: event)
        var line = "\(time.text) \(event.level) "
        Self.append(event.message.description, to: &line, isQuoted: false)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            line += " "
            Self.append(name, to: &line, isQuoted: false)
            line += "="
            Self.append(value: value.description, to: &line)
        }
        return line + "\n"
    }

    /// Appends the value unquoted if a reader of the line can tell its end, otherwise as a JSON string. An empty value
    /// is `""`.
    private static func append(value: String, to line: inout String) {
        let isPlain = value.unicodeScalars.allSatisfy { !isEscaped($0) && !" =\"\\".unicodeScalars.contains($0) }
        guard !isPlain || value.isEmpty else { return append(value, to: &line, isQuoted: false) }
        line += quoted(value)
    }

    /// The text as a JSON string, on one line, cut after ``longest`` characters.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        append(text, to: &quoted, isQuoted: true)
        return quoted + "\""
    }

    /// Escapes as JSON does. Outside of quotes a backslash and a quote stay. `…` replaces the characters beyond
    /// ``longest``.
    private static func append(_ text: String, to line: inout String, isQuoted: Bool) {
        for (count, scalar) in text.unicodeScalars.enumerated() {
            guard count < longest else {
                line += "…"
                return
            }
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case "\"" where isQuoted: line += "\\\""
            case "\\" where isQuoted: line += "\\\\"
            case _ where isEscaped(scalar):
                let digits = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: line.unicodeScalars.append(scalar)
            }
        }
    }

    /// Control characters, line and paragraph separators, and the marks that reorder text on a terminal. All of them
    /// have at most four hexadecimal digits.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
