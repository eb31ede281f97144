/// How far a long run has come, in words. Pure: the time comes in, counted from any start.
package struct ProgressMeter: Sendable {
    /// Where the words go.
    package enum Style: Sendable {
        /// One line of a terminal, drawn anew.
        case terminal
        /// Plain lines.
        case lines
    }

    private let style: Style
    /// Of all inputs as they lie there; nil where it is not known.
    private let totalBytes: Int?
    /// Of those, what an earlier run has read.
    private let skippedBytes: Int
    private let start: Duration
    private var lastShown: Duration
    private var bytes: Int
    private var events = 0
    private var rejected = 0

    package init(style: Style, totalBytes: Int?, skippedBytes: Int = 0, at start: Duration) {
        self.style = style
        self.totalBytes = totalBytes
        self.skippedBytes = skippedBytes
        self.start = start
        lastShown = start
        bytes = skippedBytes
    }

    /// Takes note of how far it has come; returns what is to be shown now, if anything. `bytes`: of all inputs, as they lie
    /// there. `events`: of this run.
    package mutating func note(bytes: Int, events: Int, rejected: Int, at now: Duration) -> String? {
        self.bytes = max(self.bytes, bytes)
        self.events = events
        self.rejected = rejected
        let interval: Duration = style == .terminal ? .milliseconds(200) : .seconds(5)
        guard now - lastShown >= interval else { return nil }
        lastShown = now
        switch style {
        case .terminal: return "\r\u{1B}[K" + bar + line(at: now)
        case .lines: return "signalbox: " + line(at: now) + "\n"
        }
    }

    /// What takes the line off a terminal.
    package var end: String { style == .terminal ? "\r\u{1B}[K" : "" }

    private var share: Double? {
        guard let totalBytes, totalBytes > 0 else { return nil }
        return min(1, Double(bytes) / Double(totalBytes))
    }

    private var bar: String {
        guard let share else { return "" }
        let full = Int(share * 20)
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: 20 - full) + "] "
    }

    private func line(at now: Duration) -> String {
        let seconds = max(0.001, (now - start) / .seconds(1))
        var parts = ["\(events) events", "\(Int(Double(events) / seconds))/s", Self.size(bytes)]
        if rejected > 0 { parts.append("\(rejected) rejected") }
        if let share, let totalBytes {
            parts.append("\(Int(share * 100)) %")
            let read = bytes - skippedBytes
            if read > 0 { parts.append(Self.left(seconds * Double(totalBytes - bytes) / Double(read))) }
        }
        return parts.joined(separator: ", ")
    }

    private static func size(_ bytes: Int) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var size = Double(bytes)
        var unit = 0
        while size >= 1000, unit < units.count - 1 {
            size /= 1000
            unit += 1
        }
        return unit == 0 ? "\(bytes) B" : "\((size * 10).rounded() / 10) \(units[unit])"
    }

    private static func left(_ seconds: Double) -> String {
        let whole = Int(min(max(0, seconds), 1e9).rounded(.up))
        if whole < 60 { return "\(whole) s left" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s left" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min left"
    }
}
