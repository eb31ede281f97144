import SignalboxInApp
import SignalboxJSON

extension PushNotification {
    /// Adds the in-app message of a push (Acoustic-Mobile-Push/iOS, MCEInAppMessage.h, MCEInAppManager.h).
    /// `start`, `end`: the message's own dates. The app asks for messages by keyword; one keyword in common is enough.
    mutating func bringMCEMessage(_ inApp: JSONValue, from start: Timestamp?, to end: Timestamp?, in parser: JSONParser)
    {
        guard let rules = inApp["rules"], let keywords = MCE.keywords(rules) else {
            return rejectMessage(
                "The rules are missing or not a list of strings.", at: inApp["rules"] ?? inApp, in: parser)
        }
        guard let template = inApp["template"]?.text, template.utf8.count <= Bounds.nameLength else {
            return rejectMessage(
                "The message has no template, or the template's name is too long.", at: inApp["template"] ?? inApp,
                in: parser)
        }
        guard let content = inApp["content"], content.isObject else {
            return rejectMessage("The message has no content object.", at: inApp["content"] ?? inApp, in: parser)
        }
        let views = inApp["maxViews"].flatMap { $0.isNull ? nil : $0 }
        // Without `maxViews`, one view (developer.goacoustic.com, "In-app content").
        guard let count = views.map(\.number) ?? 1 else {
            return rejectMessage("The number of views is not a whole number.", at: views ?? inApp, in: parser)
        }
        // The mailing is the same for all devices, the identifier of the message may be one device's.
        let mailing = [campaign?.id, inApp["inAppContentId"]?.scalarText].compactMap(\.self).joined(separator: "/")
        var pushed = PushedMessage(
            vendor, id: mailing.isEmpty ? campaign?.messageId : mailing, kind: MCE.kind(of: template),
            triggers: keywords.map { .rule($0) }, content: JSONText(content))
        pushed.message.campaign = campaign?.id
        // Views are counted in the device's database. A message without an end is kept for a year (IBM, "In-app
        // content"): the form of messages adds that.
        pushed.message.limits = [Limit(Int(clamping: min(count, 1_000_000_000)), .lifetime, per: .device)]
        pushed.message.requirements.template = template
        pushed.message.schedule = .init(start: start?.milliseconds, end: end?.milliseconds)
        pushed.action = content["action"].flatMap { mceAction($0, in: parser) }
        bring(pushed, from: inApp, in: parser)
    }

    /// The action of the content, without warnings: if it is the notification's own action, its warnings are already
    /// recorded.
    private func mceAction(_ value: JSONValue, in parser: JSONParser) -> Action? {
        var scratch = PushNotification(platform: platform)
        return scratch.readMCEAction(value, in: parser)
    }
}

extension MCE {
    /// The keywords of a message, up to one beyond the engine's bound; nil for anything but a list of strings.
    fileprivate static func keywords(_ rules: JSONValue) -> [String]? {
        guard rules.isArray else { return nil }
        let list = rules.elements.prefix(Bounds.triggersPerMessage + 1)
        let keywords = list.compactMap(\.text)
        return keywords.isEmpty || list.contains { !$0.hasText } ? nil : keywords
    }

    /// The templates of the SDK's plug-ins; Android's names begin with `mce-`. Other templates are the app's own.
    fileprivate static func kind(of template: String) -> Message.Kind {
        switch template {
        case "default", "mce-mini": .banner
        case "video", "mce-video": .fullscreen
        default: .modal
        }
    }
}
