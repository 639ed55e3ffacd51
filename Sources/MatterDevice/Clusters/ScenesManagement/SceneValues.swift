import MatterInteraction
import MatterModel
import MatterTLV

/// Attribute values as scenes carry them: integers of the attribute's width, whatever its type (Matter Application Clusters, 1.4.7.3).
enum SceneValues {
    typealias Pair = ScenesManagement.AttributeValuePairStruct

    /// How an attribute's integers are carried; nil for types that scenes cannot keep.
    private struct Form {
        var bytes: Int
        var isSigned: Bool
        var isBoolean = false

        init?(_ attribute: AttributeDefinition) {
            switch attribute.type.base {
            case .boolean: (bytes, isSigned, isBoolean) = (1, false, true)
            case .unsigned(let width): (bytes, isSigned) = (Int(width), false)
            case .signed(let width): (bytes, isSigned) = (Int(width), true)
            case .enumeration(let definition): (bytes, isSigned) = (Int(definition.bytes), false)
            case .bitmap(let definition): (bytes, isSigned) = (Int(definition.bytes), false)
            default: return nil
            }
            // The one attribute of this type, ColorLoopActive, is one byte wide in scenes.
            if attribute.type.name == "enum16" { bytes = 1 }
        }

        /// The width of the field that carries it: 1, 2, 4 or 8.
        var carried: Int { bytes <= 2 ? bytes : bytes <= 4 ? 4 : 8 }
        var highest: UInt64 { bytes >= 8 ? .max : (1 << (UInt64(bytes) * 8)) - 1 }
        /// What stands for null in a signed value.
        var lowest: Int64 { bytes >= 8 ? .min : -(1 << (Int64(bytes) * 8 - 1)) }
    }

    /// A value for a scene. Nil when the attribute is of a type that scenes cannot keep.
    static func pair(_ attribute: AttributeDefinition, _ value: TLVValue) -> Pair? {
        guard let form = Form(attribute) else { return nil }
        var pair = Pair(attributeID: attribute.id)
        if form.isSigned {
            let number: Int64
            switch value {
            case .signed(let value): number = value
            case .null: number = form.lowest
            default: return nil
            }
            switch form.carried {
            case 1: pair.valueSigned8 = Int8(clamping: number)
            case 2: pair.valueSigned16 = Int16(clamping: number)
            case 4: pair.valueSigned32 = Int32(clamping: number)
            default: pair.valueSigned64 = number
            }
            return pair
        }
        let number: UInt64
        switch value {
        case .unsigned(let value): number = value
        case .boolean(let value): number = value ? 1 : 0
        case .null: number = form.highest
        default: return nil
        }
        switch form.carried {
        case 1: pair.valueUnsigned8 = UInt8(clamping: number)
        case 2: pair.valueUnsigned16 = UInt16(clamping: number)
        case 4: pair.valueUnsigned32 = UInt32(clamping: number)
        default: pair.valueUnsigned64 = number
        }
        return pair
    }

    /// A pair as it is kept: with values that the type does not hold brought to the nearest.
    /// - Throws: INVALID_COMMAND when it carries another type, or more or less than one value.
    static func checked(_ pair: Pair, _ attribute: AttributeDefinition) throws(Status) -> Pair {
        guard let form = Form(attribute), let value = integer(pair, form) else {
            throw Status(.invalidCommand, "\(attribute.name) takes another kind of value")
        }
        switch value {
        case .boolean(let value): return Pair(attributeID: pair.attributeID, valueUnsigned8: value ? 1 : 0)
        case .unsigned(let number): return Self.pair(attribute, .unsigned(min(number, form.highest))) ?? pair
        default: return pair
        }
    }

    /// The value that an attribute gets back.
    static func value(_ pair: Pair, _ attribute: AttributeDefinition) -> TLVValue? {
        guard let form = Form(attribute), let value = integer(pair, form) else { return nil }
        guard attribute.isNullable else { return value }
        switch value {
        case .unsigned(let number) where number == form.highest: return .null
        case .signed(let number) where number == form.lowest: return .null
        default: return value
        }
    }

    /// The only value of a pair, when it is of the form; booleans as such.
    private static func integer(_ pair: Pair, _ form: Form) -> TLVValue? {
        let unsigned: [(Int, UInt64)] = [
            pair.valueUnsigned8.map { (1, UInt64($0)) }, pair.valueUnsigned16.map { (2, UInt64($0)) },
            pair.valueUnsigned32.map { (4, UInt64($0)) }, pair.valueUnsigned64.map { (8, $0) },
        ].compactMap { $0 }
        let signed: [(Int, Int64)] = [
            pair.valueSigned8.map { (1, Int64($0)) }, pair.valueSigned16.map { (2, Int64($0)) },
            pair.valueSigned32.map { (4, Int64($0)) }, pair.valueSigned64.map { (8, $0) },
        ].compactMap { $0 }
        guard unsigned.count + signed.count == 1 else { return nil }
        if form.isSigned {
            guard let (width, number) = signed.first, width == form.carried else { return nil }
            return .signed(number)
        }
        guard let (width, number) = unsigned.first, width == form.carried else { return nil }
        return form.isBoolean ? .boolean(number != 0) : .unsigned(number)
    }
}
