package import Testing

/// The bound of every wait of the tests' peers and processes. A wait that exceeds it fails its test and says what did
/// not come, instead of hanging up to the time limit of the suite.
package enum WaitBound {
    /// More than any wait takes when all tests run at once on a busy machine, and than the longest silence of a
    /// program: five minutes.
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
