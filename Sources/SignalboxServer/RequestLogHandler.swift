import Logging

/// Logs by another handler, which gets to see the metadata of a logger only with what is logged.
///
/// The server gives every request a logger with an id, and hardly any request logs something; the usual handler spells
/// metadata out whenever it changes.
struct RequestLogHandler: LogHandler {
    private var handler: any LogHandler
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level

    /// Logs what a logger logs, by its handler.
    init(_ logger: Logger) {
        handler = logger.handler
        logLevel = logger.logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        let own = metadata.merging(metadataProvider?.get() ?? [:]) { _, provided in provided }
        event.metadata = own.merging(event.metadata ?? [:]) { _, given in given }
        handler.log(event: event)
    }
}
