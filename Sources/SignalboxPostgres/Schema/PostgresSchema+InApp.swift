/// In-app messages, and the rows of users and devices.
extension PostgresSchema {
    static let inApp: [String] = []
}
