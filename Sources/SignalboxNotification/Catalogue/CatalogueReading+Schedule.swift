import SignalboxJSON

extension CatalogueReading {
    /// There is no mode: that a push has a window says nothing about when within it the vendor's SDK shows it.
    mutating func readSchedule(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let start = instant(fields.schedule.notBefore, payload, &notification)
        let end = instant(fields.schedule.notAfter, payload, &notification)
        guard start != nil || end != nil else { return }
        if let start, let end, start.date > end.date {
            notification.warn(
                code("embargo-after-expiry"), "The notification expires before it may be shown.", at: start.value,
                in: payload.parser)
        }
        notification.schedule = .init(notBefore: start?.date.text, notAfter: end?.date.text)
    }

    /// The first instant to which a path leads. What is none is passed over and kept, with a warning unless it says
    /// that there is no limit.
    private mutating func instant(
        _ paths: CataloguePaths, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> (date: Timestamp, value: JSONValue)? {
        for path in paths {
            guard let value = payload.value(at: path) else { continue }
            if let date = value.instant {
                taken.insert(value)
                return (date, value)
            }
            guard !value.isNoInstant, value.utf8?.isEmpty != true else { continue }
            notification.warn(code("date-expected"), "A date is expected here.", at: value, in: payload.parser)
        }
        return nil
    }
}
