package import Testing

/// The time limit of every wait for a peer or a process in tests. A wait that exceeds it fails its test with the name
/// of the missing thing, instead of blocking until the time limit of the suite.
package enum WaitBound {
    /// Longer than any wait when all tests run at once on a busy machine, and longer than the longest silence of a
    /// program, which is five minutes.
    package static let time: Duration = .seconds(600)

    /// Starts the bound of one wait. Cancel the task when the wait is over. `awaited`: the missing thing, for the
    /// failure. `end`: ends the wait.
    package static func start(
        _ awaited: String, within time: Duration = time, sourceLocation: SourceLocation = #_sourceLocation,
        end: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        // Unstructured, so it does not delay the end of the wait. Inherits the test that failures belong to.
        Task {
            do { try await ContinuousClock().sleep(for: time) } catch { return }
            Issue.record("\(awaited) did not come within \(time).", sourceLocation: sourceLocation)
            end()
        }
    }
}

/// A stream each of whose elements must arrive within the bound.
package struct BoundedStream<Element: Sendable>: AsyncSequence, Sendable {
    let stream: AsyncStream<Element>
    /// For the failure.
    let awaited: String
    var time = WaitBound.time
    /// Makes the stream end.
    let end: @Sendable () -> Void

    package func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator(), awaited: awaited, time: time, end: end)
    }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<Element>.AsyncIterator
        fileprivate let awaited: String
        fileprivate let time: Duration
        fileprivate let end: @Sendable () -> Void

        package mutating func next() async -> Element? {
            let bound = WaitBound.start(awaited, within: time, end: end)
            defer { bound.cancel() }
            return await base.next()
        }
    }
}
