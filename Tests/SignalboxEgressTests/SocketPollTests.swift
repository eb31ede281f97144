import Foundation
import Testing

@testable import SignalboxEgress

@Suite(.timeLimit(.minutes(15))) struct SocketPollTests {
    // As libcurl has them (curl/multi.h).
    private let pollIn: Int32 = 1
    private let pollOut: Int32 = 2
    private let selectIn: Int32 = 1
    private let selectOut: Int32 = 2

    /// Both ends of a connection, open while `body` runs.
    private func withPair(_ body: (Int32, Int32) throws -> Void) throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        try body(ends[0], ends[1])
    }

    /// Ready sockets and their masks.
    private func ready(_ poll: SocketPoll, atMost time: Duration = .zero) -> [[Int32]] {
        var found: [[Int32]] = []
        poll.wait(atMost: time) { found.append([$0.socket, $0.mask]) }
        return found
    }

    @Test func reportsReadySockets() throws {
        let poll = try SocketPoll()
        try withPair { mine, other in
            try withPair { silent, _ in
                poll.watch(mine, for: pollIn)
                poll.watch(silent, for: pollIn)
                #expect(ready(poll).isEmpty)
                #expect(write(other, "x", 1) == 1)
                #expect(ready(poll, atMost: .seconds(30)) == [[mine, selectIn]])
                // Until the byte is read.
                #expect(ready(poll) == [[mine, selectIn]])
            }
        }
    }

    @Test func watchesForTheLatestEvents() throws {
        let poll = try SocketPoll()
        try withPair { mine, other in
            #expect(write(other, "x", 1) == 1)
            poll.watch(mine, for: pollOut)
            #expect(ready(poll) == [[mine, selectOut]])
            poll.watch(mine, for: pollIn | pollOut)
            #expect(ready(poll) == [[mine, selectIn | selectOut]])
            poll.watch(mine, for: pollIn)
            #expect(ready(poll) == [[mine, selectIn]])
            poll.forget(mine)
            #expect(ready(poll).isEmpty)
            poll.watch(mine, for: pollIn)
            #expect(ready(poll) == [[mine, selectIn]])
        }
    }

    @Test func reportsClosedPeers() throws {
        let poll = try SocketPoll()
        try withPair { mine, other in
            poll.watch(mine, for: pollIn)
            shutdown(other, Int32(SHUT_RDWR))
            #expect(ready(poll) == [[mine, selectIn]])
        }
    }

    /// Whether or not the closed socket was forgotten.
    @Test(arguments: [true, false])
    func watchesReusedDescriptors(isForgotten: Bool) throws {
        let poll = try SocketPoll()
        try withPair { mine, _ in
            poll.watch(mine, for: pollIn)
            if isForgotten { poll.forget(mine) }
        }
        try withPair { mine, other in
            poll.watch(mine, for: pollIn)
            #expect(write(other, "x", 1) == 1)
            #expect(ready(poll) == [[mine, selectIn]])
        }
    }

    @Test func pausesSocketsThatAreOnlyReadyForWriting() throws {
        let poll = try SocketPoll()
        poll.pause = .seconds(3600)
        try withPair { mine, other in
            poll.watch(mine, for: pollIn | pollOut)
            for _ in 0..<SocketPoll.streak { #expect(ready(poll) == [[mine, selectOut]]) }
            #expect(ready(poll).isEmpty)
            #expect(write(other, "x", 1) == 1)
            #expect(ready(poll) == [[mine, selectIn]])
            // The byte ended the pause.
            #expect(ready(poll) == [[mine, selectIn | selectOut]])
        }
    }

    @Test func watchesSocketsAgainAfterTheirPause() throws {
        let poll = try SocketPoll()
        poll.pause = .zero
        try withPair { mine, _ in
            poll.watch(mine, for: pollOut)
            for _ in 0..<(3 * SocketPoll.streak) { #expect(ready(poll) == [[mine, selectOut]]) }
        }
    }

    @Test func newEventsEndThePause() throws {
        let poll = try SocketPoll()
        poll.pause = .seconds(3600)
        try withPair { mine, _ in
            poll.watch(mine, for: pollOut)
            for _ in 0..<SocketPoll.streak { #expect(ready(poll) == [[mine, selectOut]]) }
            #expect(ready(poll).isEmpty)
            poll.watch(mine, for: pollIn | pollOut)
            #expect(ready(poll) == [[mine, selectOut]])
        }
    }

    /// Before and during a wait that is longer than the suite's time limit.
    @Test func wakeEndsTheWait() async throws {
        let poll = try SocketPoll()
        poll.wake()
        poll.wake()
        #expect(ready(poll, atMost: .seconds(120)).isEmpty)
        async let waited = ready(poll, atMost: .seconds(120))
        poll.wake()
        #expect(await waited.isEmpty)
    }
}
