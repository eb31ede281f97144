import Foundation

/// Times as HTTP spells them (RFC 9110, 5.6.7), spelled once a second.
struct HTTPDateText {
    private var second: time_t = -1
    private var text = ""

    /// For example `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func text(at now: time_t) -> String {
        guard now != second else { return text }
        var (now, parts) = (now, tm())
        gmtime_r(&now, &parts)
        // The process keeps to the names of the C locale for times.
        text = String(unsafeUninitializedCapacity: 64) {
            strftime($0.baseAddress, $0.count, "%a, %d %b %Y %T GMT", &parts)
        }
        second = now
        return text
    }
}
