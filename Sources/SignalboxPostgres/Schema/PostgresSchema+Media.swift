/// Downloads, and the deliveries that wait for them.
extension PostgresSchema {
    static let media: [String] = []
}
