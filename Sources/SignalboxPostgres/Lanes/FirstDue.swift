/// An expression over `queue` that reads one entry of an index, however many deliveries wait.
enum FirstDue {
    /// When the first free delivery of a destination becomes due; NULL for none. `destination`: an expression of the
    /// type text. `keyed`: whether among those with an order key, or among the others; each kind has its own index.
    static func of(_ destination: String, keyed: Bool) -> String {
        """
        (SELECT due FROM queue WHERE holder IS NULL AND order_key IS \(keyed ? "NOT NULL" : "NULL")
            AND destination = \(destination) ORDER BY due LIMIT 1)
        """
    }
}
