import SignalboxInApp
import SignalboxJSON

/// A value that the reader of a message needs cannot be read; ``BrazeConditions/takeFault()`` says which.
struct Unreadable: Error {}

/// Reads the conditions of Braze's triggers, with their filters (braze-roku-sdk, BrazeSDK.brs; braze-android-sdk).
struct BrazeConditions {
    /// Text patterns that one payload may still have compiled. A short pattern can compile to a large program.
    private var patterns = 200
    private var unknown: [JSONValue] = []
    private var found: (value: JSONValue, reason: String)?

    /// Conditions of unknown types since the last call.
    mutating func takeUnknown() -> [JSONValue] { exchange(&unknown, with: []) }

    /// The value that could not be read since the last call, with a sentence.
    mutating func takeFault() -> (value: JSONValue, reason: String)? { found.take() }

    /// Records the value, and returns the error to throw.
    mutating func fault(_ reason: String, at value: JSONValue) -> Unreadable {
        found = (value, reason)
        return Unreadable()
    }

    /// The conditions, of which one is enough. Conditions of unknown types never come true.
    mutating func triggers(of trigger: JSONValue) throws(Unreadable) -> [MessageTrigger] {
        guard let list = trigger["trigger_condition"], list.isArray else {
            throw fault("The trigger has no list of conditions.", at: trigger["trigger_condition"] ?? trigger)
        }
        var triggers: [MessageTrigger] = []
        for condition in list.elements {
            guard triggers.count + unknown.count <= Bounds.triggersPerMessage else {
                throw fault("The message has more than \(Bounds.triggersPerMessage) conditions.", at: list)
            }
            triggers += try self.triggers(ofCondition: condition)
        }
        guard !triggers.isEmpty else { throw fault("No condition of the trigger is known.", at: list) }
        return triggers
    }

    /// A condition with filters, `X_property`, is for the same event as `X` (BrazeSDK.brs).
    private mutating func triggers(ofCondition condition: JSONValue) throws(Unreadable) -> [MessageTrigger] {
        let data = condition["data"]
        switch condition["type"]?.string {
        case "open": return [.sessionStart]
        case "test": return [.test]
        case "custom_event", "custom_event_property":
            let name = try text(data?["event_name"], "The condition has no event name.", in: condition)
            return [.event(name: name, filter: try filter(data?["property_filters"]))]
        case "purchase", "purchase_property":
            let filter = try filter(data?["property_filters"])
            return [.purchase(product: try optionalText(data?["product_id"]), filter: filter)]
        case "push_click": return [.pushOpen(campaign: try optionalText(data?["campaign_id"]))]
        case "iam_click":
            let id = "braze:" + (try text(data?["id"], "The condition has no message id.", in: condition))
            guard let buttons = data?["buttons"], !buttons.isNull else {
                return [.messageClick(message: id, button: nil)]
            }
            return try clicks(on: buttons, of: id)
        default:
            unknown.append(condition)
            return []
        }
    }

    /// One trigger for each button.
    private mutating func clicks(on buttons: JSONValue, of id: MessageID) throws(Unreadable) -> [MessageTrigger] {
        guard buttons.isArray else { throw fault("The buttons are not a list.", at: buttons) }
        let clicks = try buttons.elements.prefix(Bounds.triggersPerMessage + 1).map { button throws(Unreadable) in
            let name = try text(button, "The button id is neither a string nor a number.", in: buttons)
            return MessageTrigger.messageClick(message: id, button: name)
        }
        return clicks.isEmpty ? [.messageClick(message: id, button: nil)] : clicks
    }

    /// A required name or identifier.
    private mutating func text(
        _ value: JSONValue?, _ reason: String, in object: JSONValue
    ) throws(Unreadable) -> String {
        guard let value, let text = value.scalarText else { throw fault(reason, at: value ?? object) }
        // Also identifiers that the engine does not check.
        guard text.utf8.count <= Bounds.nameLength else {
            throw fault("The name is longer than \(Bounds.nameLength) bytes.", at: value)
        }
        return text
    }

    /// Nil for an absent value, which means any.
    private mutating func optionalText(_ value: JSONValue?) throws(Unreadable) -> String? {
        guard let value, !value.isNull else { return nil }
        return try text(value, "The identifier is neither a string nor a number.", in: value)
    }

    // MARK: Filters

    /// A list of groups that must all hold; one condition of a group is enough.
    private mutating func filter(_ value: JSONValue?) throws(Unreadable) -> Filter? {
        guard let value, !value.isNull else { return nil }
        guard value.isArray else { throw fault("The filters are not a list of lists.", at: value) }
        // One beyond the bound, which the engine then reports.
        let groups = try value.elements.prefix(Bounds.filterGroups + 1).map { group throws(Unreadable) in
            guard group.isArray else { throw fault("The filters are not a list of lists.", at: group) }
            return try group.elements.prefix(Bounds.conditionsPerGroup + 1).map { condition throws(Unreadable) in
                try self.condition(condition)
            }
        }
        return Filter(groups)
    }

    /// `{property_key, property_type, comparator, property_value}`.
    private mutating func condition(_ object: JSONValue) throws(Unreadable) -> Filter.Condition {
        let key = try text(object["property_key"], "The filter has no property name.", in: object)
        guard let code = object["comparator"]?.number else {
            throw fault("The comparator is missing or not a number.", at: object["comparator"] ?? object)
        }
        // "All" compares a list; the type is that of its elements.
        let type = code == 9 ? nil : try type(object["property_type"])
        return Filter.Condition(key, try comparison(code, type, object), type: type)
    }

    private mutating func type(_ value: JSONValue?) throws(Unreadable) -> PropertyValue.Kind? {
        guard let value, !value.isNull else { return nil }
        switch value.string {
        case "boolean": return .boolean
        case "number": return .number
        case "string": return .text
        case "date": return .date
        default: throw fault("Unknown property type; expected boolean, number, string or date.", at: value)
        }
    }

    /// The codes of the SDKs. Circles and polygons (13, 14, 18, 19) and later codes never match.
    private mutating func comparison(
        _ code: Int64, _ type: PropertyValue.Kind?, _ object: JSONValue
    ) throws(Unreadable) -> Filter.Comparison {
        let operand = object["property_value"]
        switch code {
        case 1: return .equals(try value(operand, type, in: object))
        case 2: return .notEquals(try value(operand, type, in: object))
        case 3: return .greaterThan(try number(operand, in: object))
        case 4: return .atLeast(try number(operand, in: object))
        case 5: return .lessThan(try number(operand, in: object))
        case 6: return .atMost(try number(operand, in: object))
        case 7: return .oneOf(try list(operand, type, in: object))
        case 8: return .noneOf(try list(operand, type, in: object))
        case 9: return .containsAll(try list(operand, type, in: object))
        case 10: return .matches(try pattern(operand, in: object))
        case 11: return .exists
        case 12: return .notExists
        case 15: return .before(try instant(operand, in: object))
        case 16: return .after(try instant(operand, in: object))
        case 17: return .notMatches(try pattern(operand, in: object))
        default: return .unsupported("braze comparator \(code)")
        }
    }

    /// A value of the property's type; without a property type, a value of its own type.
    private mutating func value(
        _ value: JSONValue?, _ type: PropertyValue.Kind?, in object: JSONValue
    ) throws(Unreadable) -> PropertyValue {
        switch type {
        case .boolean: if let flag = value?.bool { return .boolean(flag) }
        case .number: return .number(try number(value, in: object))
        case .date: return .date(try instant(value, in: object))
        case .text: if let text = value?.string { return .text(text) }
        case .list, nil:
            if let flag = value?.bool { return .boolean(flag) }
            if let number = value?.double { return .number(number) }
            if let text = value?.string { return .text(text) }
        }
        throw fault("The filter's value is not of the property's type.", at: value ?? object)
    }

    private mutating func number(_ value: JSONValue?, in object: JSONValue) throws(Unreadable) -> Double {
        guard let number = value?.decimal else { throw fault("This comparator needs a number.", at: value ?? object) }
        return number
    }

    private mutating func list(
        _ value: JSONValue?, _ type: PropertyValue.Kind?, in object: JSONValue
    ) throws(Unreadable) -> [PropertyValue] {
        guard let value, value.isArray else { throw fault("This comparator needs a list.", at: value ?? object) }
        return try value.elements.prefix(Bounds.listElements + 1).map { element throws(Unreadable) in
            try self.value(element, type, in: value)
        }
    }

    /// Seconds since 1970, or ISO 8601.
    private mutating func instant(_ value: JSONValue?, in object: JSONValue) throws(Unreadable) -> Instant {
        let text = value?.utf8.flatMap { Timestamp(iso8601: $0) }
        guard let time = text ?? value?.number.flatMap({ Timestamp(seconds: $0) }) else {
            throw fault("The date is neither a number of seconds since 1970 nor an ISO 8601 date.", at: value ?? object)
        }
        return time.milliseconds
    }

    private mutating func pattern(_ value: JSONValue?, in object: JSONValue) throws(Unreadable) -> TextPattern {
        guard let value, let source = value.string else {
            throw fault("This comparator needs a regular expression.", at: value ?? object)
        }
        guard patterns > 0 else { throw fault("The payload has too many regular expressions.", at: value) }
        patterns -= 1
        do throws(InputFault) {
            return try TextPattern(source)
        } catch { throw fault("The regular expression is not supported: \(error.detail).", at: value) }
    }
}
