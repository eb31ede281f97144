/// Splits the bytes of one direction of a PostgreSQL connection into messages, and finds commits among them
/// (PostgreSQL 15, chapter 55.7). Reads no more than that needs.
struct PostgresMessages {
    /// A message as the proxy sees it.
    enum Kind {
        /// The client executes COMMIT.
        case commit
        /// The client ends a pipeline or a simple query: the server answers now.
        case end
        /// The server confirms a commit.
        case committed
        case other
    }

    enum Direction { case toServer, toClient }

    private let direction: Direction
    private var rest: [UInt8] = []
    /// The first messages have no type: the client's startup message, the server's refusal of encryption.
    private var isStarting = true
    /// Names of prepared statements with the text COMMIT.
    private var commits: Set<[UInt8]> = []

    init(_ direction: Direction) { self.direction = direction }

    /// Appends what arrived; returns the messages that are complete.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [(kind: Kind, bytes: [UInt8])] {
        rest += bytes
        var found: [(Kind, [UInt8])] = []
        var start = 0
        while let length = length(from: start), length <= rest.count - start {
            let message = Array(rest[start..<start + length])
            found.append((kind(of: message), message))
            start += length
        }
        rest.removeFirst(start)
        return found
    }

    private func length(from start: Int) -> Int? {
        guard start < rest.count else { return nil }
        if isStarting, direction == .toClient, rest[start] == UInt8(ascii: "N") { return 1 }
        let prefix = isStarting && direction == .toServer ? 0 : 1
        guard rest.count - start >= prefix + 4 else { return nil }
        return prefix + rest[(start + prefix)..<(start + prefix + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func kind(of message: [UInt8]) -> Kind {
        if isStarting {
            // A protocol version marks a startup message; other codes request encryption.
            let isStart = message.count > 8 && message[4] == 0 && message[5] == 3
            if direction == .toServer ? isStart : message.count > 1 { isStarting = false }
            return .other
        }
        return direction == .toServer ? clientKind(of: message) : serverKind(of: message)
    }

    private mutating func clientKind(of message: [UInt8]) -> Kind {
        let texts = message.dropFirst(5).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        switch message[0] {
        case UInt8(ascii: "P") where texts.count > 1:
            if Array(texts[1]) == Self.commit { commits.insert(Array(texts[0])) }
            return .other
        case UInt8(ascii: "B") where texts.count > 1: return commits.contains(Array(texts[1])) ? .commit : .other
        case UInt8(ascii: "Q"): return texts.first.map(Array.init) == Self.commit ? .commit : .end
        case UInt8(ascii: "S"): return .end
        default: return .other
        }
    }

    private func serverKind(of message: [UInt8]) -> Kind {
        message[0] == UInt8(ascii: "C") && Array(message.dropFirst(5)) == Self.commit + [0] ? .committed : .other
    }

    private static let commit = Array("COMMIT".utf8)
}
