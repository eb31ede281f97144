import SignalboxInApp
import SignalboxJSON

extension PushNotification {
    /// Adds the smart notification as a message that the engine shows in its period. The SDK shows no message without
    /// title and body. A period with an unreadable date is unknown, so it brings no message. `embargo`, `expiry`: as
    /// read.
    mutating func bringSourseMessage(_ payload: borrowing PlatformPayload, embargo: Timestamp?, expiry: Timestamp?) {
        guard readsMessages, payload["handler"]?.equals("com.sourse.notification") == true, content.title != nil,
            content.body != nil, !payload.isUnreadable("embargoDate", embargo),
            !payload.isUnreadable("expiryDate", expiry)
        else { return }
        if let embargo, let expiry, embargo > expiry { return }
        // The tag groups notifications and identifies none of them (Sourse, "Smart notification payload
        // specification"), so the message has no id of its own.
        var pushed = PushedMessage(
            vendor, id: nil, kind: .bar, triggers: [.immediate], content: sourseContent(payload))
        pushed.message.campaign = tag
        pushed.message.isSmart = schedule?.mode == .optimal
        pushed.message.schedule = .init(start: embargo?.milliseconds, end: expiry?.milliseconds)
        if expiry == nil { pushed.lifetime = PushedMessage.pushLifetime }
        pushed.message.pair = pair(payload)
        pushed.message.requirements.topics = topics(payload, besides: pushed.message.pair)
        pushed.action = action
        bring(pushed, from: payload.root, in: payload.parser)
    }

    /// The companion of a plain notification with the same news, by the topic condition. The companion itself has none
    /// of Sourse's keys: the system shows it, so it is not a message.
    private func pair(_ payload: borrowing PlatformPayload) -> Message.Pair? {
        guard let condition = payload.target.condition?.text, let title = content.title, let body = content.body else {
            return nil
        }
        return SoursePair.pair(condition: condition, title: title, body: body)
    }

    /// The topics whose subscribers the push is for. The marker's topic is part of the pair, so it is left out here.
    private func topics(_ payload: borrowing PlatformPayload, besides pair: Message.Pair?) -> [[String]] {
        if let condition = payload.target.topics {
            return condition.groups.filter { $0 != pair.map { [$0.marker] } && $0 != pair.map { ["!" + $0.marker] } }
        }
        guard let topic = payload.target.topic?.text else { return [] }
        let name = topic.hasPrefix("/topics/") ? String(topic.dropFirst("/topics/".count)) : topic
        return (1...Bounds.nameLength).contains(name.utf8.count) ? [[name]] : []
    }

    /// Texts, picture and the app's own keys, in a fixed order: equal news make equal messages.
    private func sourseContent(_ payload: borrowing PlatformPayload) -> JSONText {
        var custom: [(key: String, value: JSONText)] = []
        payload.fields.forEach { key, value in
            guard key.hasPrefix("custom_") else { return }
            custom.append((String(decoding: key.dropFirst("custom_".utf8.count), as: UTF8.self), JSONText(value)))
        }
        custom.sort { $0.key < $1.key }
        return .object { json in
            json.member("title", content.title)
            json.member("body", content.body)
            json.member("imageURL", media.first?.url)
            if !custom.isEmpty {
                json.object("custom") { json in
                    for (key, value) in custom {
                        json.key(key)
                        json.text(value)
                    }
                }
            }
        }
    }
}

extension PlatformPayload {
    /// True for a date that is present but could not be read.
    fileprivate func isUnreadable(_ key: StaticString, _ date: Timestamp?) -> Bool {
        date == nil && self[key] != nil
    }
}
