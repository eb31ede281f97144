package import Dispatch

extension DispatchQueue {
    /// Runs `body` on the queue, for work that blocks: Swift's threads must not wait for disks or servers. `body` runs
    /// to its end even if the caller's task is cancelled.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { done in
            self.async { done.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try result.get()
    }
}
