import SignalboxNotification

/// A position in the inputs of a run. Everything before it has been read. Positions are comparable across inputs: a
/// later input comes after every byte of an earlier one.
package struct InputPosition: Sendable, Equatable, Comparable, Codable {
    /// Index of the input, from 0.
    package var input: Int
    /// Bytes of that input, decompressed.
    package var offset: Int

    /// The start of the first input by default.
    package init(input: Int = 0, offset: Int = 0) { (self.input, self.offset) = (input, offset) }

    package static func < (left: InputPosition, right: InputPosition) -> Bool {
        (left.input, left.offset) < (right.input, right.offset)
    }
}

/// The progress of a long run as text. Pure: the caller passes the time, measured from any start. It writes nothing
/// itself; the caller passes its text to the diagnostics.
package struct ProgressMeter: Sendable {
    /// How the progress is written.
    package enum Style: Sendable {
        /// One line of a terminal, redrawn.
        case terminal
        /// Plain lines.
        case lines
    }

    /// Redrawn on a terminal, plain lines otherwise.
    private let style: Style
    private let totalBytes: Int?
    private var skippedBytes: Int
    private var start: Duration
    /// When the progress was written last.
    private var lastShown: Duration
    /// Bytes read so far, including the skipped ones. Compressed, as stored.
    private var bytes: Int
    private var events = 0
    private var rejected = 0

    /// `totalBytes`: size of all inputs, compressed as stored; nil if unknown. `skippedBytes`: bytes that an earlier
    /// run has read. `start`: the time from which the rate of events counts.
    package init(style: Style, totalBytes: Int?, skippedBytes: Int = 0, at start: Duration) {
        (self.style, self.totalBytes, self.skippedBytes, self.start) = (style, totalBytes, skippedBytes, start)
        lastShown = start
        bytes = skippedBytes
    }

    /// Begins anew after the part of an input that an earlier run has settled, which takes less time than the rest.
    /// `bytes`: position in all inputs, compressed as stored.
    package mutating func begin(after bytes: Int, at now: Duration) {
        (skippedBytes, self.bytes, start) = (bytes, max(self.bytes, bytes), now)
    }

    /// Records the progress; returns text to write now, if any. `bytes`: position in all inputs, compressed as stored.
    /// `events`: the events of this run. Returns text at most five times a second on a terminal, and every five seconds
    /// otherwise. A position never goes back. The rate counts events of this process only.
    package mutating func update(bytes: Int, events: Int, rejected: Int, at now: Duration) -> String? {
        self.bytes = max(self.bytes, bytes)
        (self.events, self.rejected) = (events, rejected)
        let interval: Duration = style == .terminal ? .milliseconds(200) : .seconds(5)
        guard now - lastShown >= interval else { return nil }
        lastShown = now
        switch style {
        case .terminal: return "\r\u{1B}[K" + Self.cutting + bar + line(at: now) + Self.wrapping
        case .lines: return "signalbox: " + line(at: now) + "\n"
        }
    }

    /// The text that erases the line from a terminal; empty for plain lines.
    package var end: String { style == .terminal ? "\r\u{1B}[K" : "" }

    /// The part of the inputs that was read, from 0 to 1; nil if their size is unknown.
    private var share: Double? {
        guard let totalBytes, totalBytes > 0 else { return nil }
        return min(1, Double(bytes) / Double(totalBytes))
    }

    private var bar: String {
        guard let share else { return "" }
        let full = Int(share * 20)
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: 20 - full) + "] "
    }

    /// Events, rate, bytes and, if known, the share and the time left.
    private func line(at now: Duration) -> String {
        let seconds = max(0.001, (now - start) / .seconds(1))
        var parts = [Counted.words(events, "event"), "\(Int(Double(events) / seconds))/s", Self.size(bytes)]
        if rejected > 0 { parts.append("\(rejected) rejected") }
        if let share, let totalBytes {
            parts.append("\(Int(share * 100)) %")
            let read = bytes - skippedBytes
            if read > 0 { parts.append(Self.left(seconds * Double(totalBytes - bytes) / Double(read))) }
        }
        return parts.joined(separator: ", ")
    }

    // DECAWM: a terminal cuts the text at its right edge. A text that continues in the next row could not be redrawn.
    private static let (cutting, wrapping) = ("\u{1B}[?7l", "\u{1B}[?7h")

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
