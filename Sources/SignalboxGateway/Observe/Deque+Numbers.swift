import DequeModule

extension Deque {
    /// The index of the first element after a number. `number`: of an element; the numbers ascend.
    func start(behind limit: Int64, by number: (Element) -> Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if number(self[middle]) > limit { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
