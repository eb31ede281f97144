import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Picks small requests that are there whole out of what arrives on one connection. All others go on, part by part.
///
/// Requests are answered in the order in which they came (RFC 9112, 9.3.2). So a request is taken only when those before it
/// have their answers, and what comes behind one that was taken is held until that has its own.
struct DirectRequests {
    /// Most bytes of a body.
    private let limit: Int
    private let sender: (HTTPRequest) -> DirectSender?
    private var phase = Phase.between
    /// Of those that went on.
    private var unanswered = 0
    /// Whether one that was taken waits for its answer.
    private(set) var isBusy = false
    /// Whether one that went on is the last of its connection (RFC 9112, 9.6).
    private var isClosing = false
    private var held = CircularBuffer<HTTPRequestPart>()

    private enum Phase {
        case between
        case gathering(Gathered)
        case passing
    }

    /// The beginning of a request that may be taken.
    private struct Gathered {
        let head: HTTPRequest
        let sender: DirectSender
        var body = ByteBuffer()
        /// Whether the rest has been waited for.
        var hasPaused = false

        var parts: [HTTPRequestPart] { body.readableBytes > 0 ? [.head(head), .body(body)] : [.head(head)] }
    }

    /// What is to be done.
    enum Step: Equatable {
        /// These go on now, as if they had just come; there may be none.
        case pass([HTTPRequestPart])
        case take(DirectRequest)
    }

    /// `sender`: for whom a request with this head may be taken, if its body is of at most `limit` bytes; nil for one that
    /// is to go on.
    init(limit: Int, sender: @escaping (HTTPRequest) -> DirectSender?) {
        self.limit = limit
        self.sender = sender
    }

    /// False while something is held: more need not be read.
    var mayRead: Bool { held.isEmpty }

    /// A part has arrived.
    mutating func receive(_ part: HTTPRequestPart) -> Step {
        guard !isBusy else {
            held.append(part)
            return .pass([])
        }
        switch (phase, part) {
        case (.between, .head(let head)):
            guard unanswered == 0, !isClosing, let sender = sender(head) else { return pass([part]) }
            phase = .gathering(Gathered(head: head, sender: sender))
            return .pass([])
        case (.gathering(var request), .body(var piece))
        where request.body.readableBytes + piece.readableBytes <= limit:
            phase = .between
            if request.body.readableBytes == 0 { request.body = piece } else { request.body.writeBuffer(&piece) }
            phase = .gathering(request)
            return .pass([])
        case (.gathering(let request), .end(nil)):
            phase = .between
            isBusy = true
            return .take(DirectRequest(head: request.head, sender: request.sender, body: request.body))
        case (.gathering(let request), _): return pass(request.parts + [part])
        case (.between, _), (.passing, _): return pass([part])
        }
    }

    /// No more is there for now. The rest of a request is waited for once, for many clients send head and body one after
    /// the other; who is slower than that is for those who know what to do with slow ones.
    mutating func pause() -> Step {
        guard !isBusy, case .gathering(var request) = phase else { return .pass([]) }
        guard !request.hasPaused else { return pass(request.parts) }
        request.hasPaused = true
        phase = .gathering(request)
        return .pass([])
    }

    /// No more will come.
    mutating func end() -> Step {
        guard !isBusy, case .gathering(let request) = phase else { return .pass([]) }
        return pass(request.parts)
    }

    /// One of those that went on has its answer.
    mutating func answeredPassed() { unanswered -= 1 }

    /// The one that was taken has its answer: what was held is now to be received.
    mutating func answeredTaken() { isBusy = false }

    /// The one that was taken goes on after all; what was held is to be received behind it.
    mutating func gaveUp() {
        unanswered += 1
        isBusy = false
    }

    /// What is to be received next of what was held; nil while it has to wait, and where there is none.
    mutating func nextHeld() -> HTTPRequestPart? { isBusy ? nil : held.popFirst() }

    private mutating func pass(_ parts: [HTTPRequestPart]) -> Step {
        for part in parts {
            switch part {
            case .head(let head):
                unanswered += 1
                phase = .passing
                if head.headerFields[.connection].map({ $0.lowercased().contains("close") }) ?? false {
                    isClosing = true
                }
            case .body: break
            case .end: phase = .between
            }
        }
        return .pass(parts)
    }
}
