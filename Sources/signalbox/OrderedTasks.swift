/// Work under way, its results in the order in which it was started.
struct OrderedTasks<R: Sendable> {
    // Not a task group: results are wanted in order. Every task is awaited by `next`.
    private var tasks: [Task<R, Never>] = []

    var count: Int { tasks.count }

    mutating func start(_ work: @escaping @Sendable () async -> R) { tasks.append(Task { await work() }) }

    mutating func next() async -> R? { tasks.isEmpty ? nil : await tasks.removeFirst().value }

    func cancel() { for task in tasks { task.cancel() } }
}
