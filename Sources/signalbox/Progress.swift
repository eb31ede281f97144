import Foundation

/// One line on a terminal's standard error that says how far a long run has come; nothing anywhere else.
struct Progress {
    private let totalBytes: Int?
    private let isShown = StandardError.isTerminal
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var lastShown: ContinuousClock.Instant
    /// Bytes of the files that are done.
    private var bytes = 0
    private var lastRead = 0
    private var payloads = 0

    init(totalBytes: Int?) {
        self.totalBytes = totalBytes
        start = clock.now
        lastShown = start
    }

    /// `read`: bytes of the present file, from its start.
    mutating func have(read: Int) {
        if read < lastRead { bytes += lastRead }
        lastRead = read
    }

    mutating func count(_ more: Int, rejected: Int) {
        payloads += more
        guard isShown else { return }
        let now = clock.now
        guard now - lastShown > .milliseconds(200) else { return }
        lastShown = now
        StandardError.write("\r\u{1B}[K\(line(rejected, elapsed: now - start))")
    }

    func end() {
        if isShown { StandardError.write("\r\u{1B}[K") }
    }

    private func line(_ rejected: Int, elapsed: Duration) -> String {
        let seconds = max(0.001, elapsed / .seconds(1))
        var line = "\(payloads) payloads, \(Int(Double(payloads) / seconds))/s, \(rejected) rejected"
        if let totalBytes, totalBytes > 0, bytes + lastRead > 0 {
            let share = min(1, Double(bytes + lastRead) / Double(totalBytes))
            line += ", \(Int(share * 100)) %, \(Int(seconds / share - seconds)) s left"
        }
        return line
    }
}
