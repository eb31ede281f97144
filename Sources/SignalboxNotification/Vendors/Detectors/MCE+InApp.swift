import SignalboxJSON

// A message for the app's own views that a push delivers (Acoustic-Mobile-Push/iOS, in-app plug-ins).

extension MCE {
    func readInApp(_ inApp: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let inApp else { return }
        let content = inApp["content"]
        notification.kind = .inAppMessage
        notification.vendorKind = "inApp"
        notification.inApp = .init(layout: inApp["template"]?.text, pages: [JSONText(inApp)])
        notification.content.title = notification.content.title ?? content?["title"]?.text
        notification.content.body = notification.content.body ?? content?["text"]?.text
        readCampaign(inApp, &notification)
        if notification.action == nil, let action = content?["action"] {
            notification.action = readAction(action, &notification, in: parser)
        }
        for media in [content?["image"], content?["mainImage"], content?["video"]] {
            _ = notification.add(media, as: .background)
        }
        readSchedule(inApp, &notification, in: parser)
    }

    /// Acoustic's own sample misspells `expirationDate`; the SDK does not know that key and takes its default.
    private func readSchedule(_ inApp: JSONValue, _ notification: inout PushNotification, in parser: JSONParser) {
        if let misspelt = inApp["expriationDate"] {
            notification.warn(
                "mce.expiration-date-misspelt", "The key is expirationDate; as it is, it has no effect.",
                at: misspelt, in: parser)
        }
        let trigger = date(inApp["triggerDate"] ?? inApp["sendDate"], &notification, in: parser)
        let expiration = date(inApp["expirationDate"], &notification, in: parser)
        guard trigger != nil || expiration != nil else { return }
        notification.schedule = .init(notBefore: trigger?.text, notAfter: expiration?.text)
    }

    /// ISO 8601, or seconds since 1970 (ibm-mobile-push/cordova).
    private func date(
        _ value: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser
    ) -> Timestamp? {
        guard let value, !value.isNull else { return nil }
        let date = value.utf8.map { Timestamp(iso8601: $0) } ?? value.integer.map { Timestamp(seconds: $0) }
        if let date, let date { return date }
        notification.warn(
            "mce.date-invalid", "Dates are written like 2012-04-23T18:25:43Z.", at: value, in: parser)
        return nil
    }
}
