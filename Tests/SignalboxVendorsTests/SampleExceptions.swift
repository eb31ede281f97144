/// Samples that are not read as the index says: which of its fields, and why.
enum SampleExceptions {
    typealias Exception = (fields: [String], reason: String)

    static let all: [String: Exception] = [:]
}
