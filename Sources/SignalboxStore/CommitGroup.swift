public import Dispatch
public import Synchronization

/// Gathers writes from everywhere into few commits: while one commit is being made durable, the next one fills.
///
/// Performs writes in the order of their submission. A write that cannot be committed fails alone, unless the whole
/// file is affected. A class because it is shared state with its own queue. Inlinable, so that a store in another
/// target runs code that is specialised for its writes: unspecialised, an append takes a fifth more CPU time. The
/// compiler specialises it only if the class and all that its functions name are `@usableFromInline` or public.
@usableFromInline package final class CommitGroup<Write: Sendable, Output: Sendable>: Sendable {
    /// Called once, on the thread of the commits or of the deadlines. It must not block.
    @usableFromInline package typealias Done = @Sendable (Result<Output, StoreError>) -> Void

    @usableFromInline struct Entry: Sendable {
        @usableFromInline let write: Write
        @usableFromInline let weight: Int
        /// Nil once called.
        @usableFromInline var done: Done?
        /// When the submitter stops waiting for the result; nil for never.
        @usableFromInline let deadline: ContinuousClock.Instant?

        @inlinable init(write: Write, weight: Int, done: Done?, deadline: ContinuousClock.Instant?) {
            (self.write, self.weight, self.done, self.deadline) = (write, weight, done, deadline)
        }
    }

    @usableFromInline struct State {
        @usableFromInline var waiting: [Entry] = []
        /// The sum of the weights of ``waiting``.
        @usableFromInline var weight = 0
        /// The group of the present commit.
        @usableFromInline var running: [Entry] = []
        /// Start of the present commit.
        @usableFromInline var begun: ContinuousClock.Instant?
        @usableFromInline var isDraining = false
        /// Whether a check of the deadlines is scheduled.
        @usableFromInline var isWatched = false

        @inlinable init() {}
    }

    @usableFromInline let state = Mutex(State())
    // A queue and not a task: SQLite's calls block, which Swift's pool of threads must not.
    @usableFromInline let queue = DispatchQueue(label: "signalbox.commits")
    /// The most writes of one group.
    @usableFromInline let limit: Int
    /// The greatest weight of a group of several writes.
    @usableFromInline let heaviest: Int
    /// How long a write with a deadline waits for its commit.
    @usableFromInline let patience: Duration
    /// How long the next group fills after a commit of ``several`` writes.
    @usableFromInline let rest: Duration
    @usableFromInline let delayed: DelayedCall
    @usableFromInline let now: @Sendable () -> ContinuousClock.Instant
    /// Performs a group in one transaction; called on one thread at a time.
    @usableFromInline let commit: @Sendable ([Write]) throws(CommitFailure) -> [Output]

    /// `commit` performs all given writes in one transaction, or none of them, and returns the result of each.
    /// `limit`: the most writes in one commit. `heaviest`: the greatest weight of several writes in one commit; a
    /// heavier write has a commit of its own. `patience`: how long a submitter with a deadline waits. `rest`: how long
    /// the next group fills after a commit of several writes, if their submitters do not mind.
    @inlinable package init(
        limit: Int, heaviest: Int = .max, patience: Duration, rest: Duration = .zero, delayed: DelayedCall = .onQueue,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        commit: @escaping @Sendable ([Write]) throws(CommitFailure) -> [Output]
    ) {
        self.limit = limit
        self.heaviest = heaviest
        self.patience = patience
        self.rest = rest
        self.delayed = delayed
        self.now = now
        self.commit = commit
    }

    /// Returns when the write is durable. Throws when it was not performed, or, with a deadline, when its result is
    /// not known in time. `weight`: of the write, compared with the greatest weight of a group.
    @inlinable package func write(
        _ write: Write, weight: Int = 1, hasDeadline: Bool = false
    ) async throws(StoreError) -> Output {
        // Unchecked: every request waits here, and each entry's `done` is called once.
        let result = await withUnsafeContinuation { (done: UnsafeContinuation<Result<Output, StoreError>, Never>) in
            submit(write, weight: weight, hasDeadline: hasDeadline) { done.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Returns when each of the writes is durable or has failed; a write that fails does not affect the others. The
    /// results have the order of the writes. They have no deadlines.
    @inlinable package func write(_ writes: [Write]) async -> [Result<Output, StoreError>] {
        guard !writes.isEmpty else { return [] }
        // Unchecked: each entry's `done` is called once, so that the last one resumes.
        return await withUnsafeContinuation { (done: UnsafeContinuation<[Result<Output, StoreError>], Never>) in
            let results = CommitResults<Output>(count: writes.count)
            let entries = writes.enumerated().map { position, write in
                Entry(
                    write: write, weight: 1,
                    done: { if let all = results.set($0, at: position) { done.resume(returning: all) } }, deadline: nil)
            }
            let begins = state.withLock { state in
                state.waiting += entries
                state.weight += entries.count
                defer { state.isDraining = true }
                return !state.isDraining
            }
            if begins { queue.async { self.drain() } }
        }
    }

    @usableFromInline enum Submission {
        case queued, begins
        case refused(after: Duration)
    }

    /// Like ``write(_:weight:hasDeadline:)``, but calls `done`.
    @inlinable package func submit(
        _ write: Write, weight: Int = 1, hasDeadline: Bool = false, _ done: @escaping Done
    ) {
        let now = hasDeadline ? now() : nil
        let (submission, watches) = state.withLock { state -> (Submission, Bool) in
            if let now, let begun = state.begun, now - begun >= patience {
                return (.refused(after: now - begun), false)
            }
            state.waiting.append(Entry(write: write, weight: weight, done: done, deadline: now.map { $0 + patience }))
            state.weight += weight
            let watches = hasDeadline && !state.isWatched
            if watches { state.isWatched = true }
            defer { state.isDraining = true }
            return (state.isDraining ? .queued : .begins, watches)
        }
        if watches { watch(after: patience) }
        switch submission {
        case .queued: break
        case .begins: queue.async { self.drain() }
        case .refused(let time): done(.failure(.stalled(for: time)))
        }
    }

    /// How long the present commit has been running; nil for none.
    package var commitTime: Duration? {
        let begun = state.withLock { $0.begun }
        return begun.map { now() - $0 }
    }

    // MARK: Commits

    /// Commits groups until no write waits, or for a rest. Runs on the queue, at most once at a time (`isDraining`).
    @inlinable func drain() {
        while let writes = nextGroup() {
            var parts = CommitParts(count: writes.count)
            while let part = parts.next() { commit(part, of: writes, &parts) }
            if rest > .zero, Self.several.contains(writes.count), hasFewer(than: Self.several.upperBound) {
                return delayed(after: rest) { self.queue.async { self.drain() } }
            }
        }
    }

    /// The writes of a commit after which the next group fills for longer. The submitters of a smaller group would only
    /// wait; a larger one needs no help, nor does a next group that is larger already.
    @usableFromInline static var several: Range<Int> { 8..<32 }

    @inlinable func hasFewer(than count: Int) -> Bool { state.withLock { $0.waiting.count < count } }

    /// Moves the oldest writes, as many as a group may have, to `running`. Nil ends the drain.
    @inlinable func nextGroup() -> [Write]? {
        state.withLock { state in
            if state.waiting.count <= limit, state.weight <= heaviest {
                state.running = state.waiting
                state.waiting = []
                state.weight = 0
            } else {
                let (count, weight) = firstGroup(of: state.waiting)
                state.running = Array(state.waiting[..<count])
                state.waiting.removeSubrange(..<count)
                state.weight -= weight
            }
            state.isDraining = !state.running.isEmpty
            return state.isDraining ? state.running.map { $0.write } : nil
        }
    }

    /// The number and the weight of the oldest writes that fit in a group.
    @usableFromInline func firstGroup(of waiting: [Entry]) -> (count: Int, weight: Int) {
        var (count, weight) = (0, 0)
        for entry in waiting.prefix(limit) {
            guard count == 0 || weight + entry.weight <= heaviest else { break }
            count += 1
            weight += entry.weight
        }
        return (count, weight)
    }

    /// Commits one part. After a failure it splits the part, or fails it alone, or fails it with all the parts left.
    @inlinable func commit(_ part: Range<Int>, of writes: [Write], _ parts: inout CommitParts) {
        let now = now()
        state.withLock { $0.begun = now }
        do throws(CommitFailure) {
            let outputs = try commit(part.count == writes.count ? writes : Array(writes[part]))
            answer(part) { .success(outputs[$0 - part.lowerBound]) }
        } catch {
            if error.mayBeOfOneWrite, parts.split(part) { return }
            answer(part) { _ in .failure(error.reason) }
            guard !error.mayBeOfOneWrite else { return }
            while let rest = parts.next() { answer(rest) { _ in .failure(error.reason) } }
        }
    }

    /// Ends the present commit and calls each submitter that still waits, outside the lock.
    @inlinable func answer(_ part: Range<Int>, with result: (Int) -> Result<Output, StoreError>) {
        let calls = state.withLock { state in
            state.begun = nil
            return part.map { ($0, state.running[$0].done.take()) }
        }
        for (position, done) in calls { done?(result(position)) }
    }

    // MARK: Deadlines

    @inlinable func watch(after delay: Duration) {
        // Weak, because a scheduled check must not keep the file open.
        delayed(after: delay) { [weak self] in self?.checkDeadlines() }
    }

    /// Answers the writes whose deadline has passed. Writes that were not begun are withdrawn. Writes in the present
    /// commit stay in their group, and their result is unknown.
    @usableFromInline func checkDeadlines() {
        let now = now()
        let (withdrawn, unknown, next) = state.withLock { state -> ([Done], [Done], ContinuousClock.Instant?) in
            func isLate(_ entry: Entry) -> Bool { entry.deadline.map { $0 <= now } ?? false }
            let withdrawn = state.waiting.filter(isLate).compactMap(\.done)
            if !withdrawn.isEmpty {
                state.waiting.removeAll(where: isLate)
                state.weight = state.waiting.reduce(0) { $0 + $1.weight }
            }
            var unknown: [Done] = []
            for position in state.running.indices where isLate(state.running[position]) {
                if let done = state.running[position].done.take() { unknown.append(done) }
            }
            let left = (state.waiting + state.running).filter { $0.done != nil }
            let next = left.compactMap(\.deadline).min()
            state.isWatched = next != nil
            return (withdrawn, unknown, next)
        }
        for done in withdrawn { done(.failure(.stalled(for: patience))) }
        for done in unknown { done(.failure(.undecided(after: patience))) }
        if let next { watch(after: next - now) }
    }
}

/// The results of writes that were submitted together. A class because the entry of each write sets its own.
@usableFromInline final class CommitResults<Output: Sendable>: Sendable {
    @usableFromInline let state: Mutex<(results: [Result<Output, StoreError>?], missing: Int)>

    /// `count`: of the writes.
    @inlinable init(count: Int) { state = Mutex(([Result<Output, StoreError>?](repeating: nil, count: count), count)) }

    /// Sets one result, once for each position. Returns all results with the last one.
    @inlinable func set(_ result: Result<Output, StoreError>, at position: Int) -> [Result<Output, StoreError>]? {
        state.withLock { state in
            state.results[position] = result
            state.missing -= 1
            return state.missing == 0 ? state.results.compactMap { $0 } : nil
        }
    }
}
